"""Steps one peer's pool in windows. Argument: {"system", "task", "envs"} as JSON. Says `ready` after the first full batch; the order
`window SECONDS` is answered with the rows that were stepped and the seconds they took."""

import json
import sys
import time

from wire import open_wire, orders, versions_of

PACKAGES = ["gymnasium", "envpool", "stable-baselines3", "pufferlib", "torch", "numpy"]
# Workers that were stopped since the last window sleep up to 10 ms before they look again.
WARM_S = 0.1


def main():
    spec = json.loads(sys.argv[1])
    say = open_wire()
    began = time.perf_counter()
    from pools import prepare

    build = prepare(spec["system"], spec["task"])
    imported = time.perf_counter()
    pool = build(spec["envs"], {})
    pool.reset()
    ready = time.perf_counter()
    say(type="ready", importS=imported - began, startS=ready - imported, versions=versions_of(PACKAGES))
    step = 0
    for words in orders():
        if words[0] != "window":
            raise ValueError(f"unknown order {words[0]}")
        end = time.perf_counter() + WARM_S
        while time.perf_counter() < end:
            pool.step(step)
            step += 1
        first = step
        start = time.perf_counter()
        end = start + float(words[1])
        while time.perf_counter() < end:
            pool.step(step)
            step += 1
        say(type="window", steps=(step - first) * pool.rows, seconds=time.perf_counter() - start)
    pool.close()


if __name__ == "__main__":
    main()
