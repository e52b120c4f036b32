"""What a peer does when one of its 8 environments goes bad. Argument as JSON: {"system", "fault": "kill" | "hang" | "raise"}. Goes through the
stages step, step again, reset, close; says when it enters and leaves each. The bench watches from outside: a stage that it never
hears the end of is a hang, and how long it waits for that is the bench's business."""

import functools
import json
import os
import signal
import sys
import threading
import time

from wire import open_wire, orders

ENVS = 8
BAD = 3
# After the fault a pool that goes on as if nothing were is watched for this long.
WATCH_S = 2.0
# A kill comes while the pool steps, as the kernel's would.
KILL_AFTER_S = 0.5


def stage(say, name, body, head_start_s=0.0):
    """Runs `body`; says how it ended, and how long after its begin and `head_start_s`. True when it raised nothing."""
    say(type="stage", stage=name, event="begin")
    start = time.perf_counter() + head_start_s
    try:
        steps = body()
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".strip().split("\n")[0]
        say(type="stage", stage=name, event="raised", error=text[:200], afterS=max(0.0, time.perf_counter() - start))
        return False
    say(type="stage", stage=name, event="went-on", steps=steps or 0, afterS=max(0.0, time.perf_counter() - start))
    return True


def main():
    spec = json.loads(sys.argv[1])
    fault = spec["fault"]
    say = open_wire()
    from pools import prepare
    from tasks import FaultyEnv

    build = prepare(spec["system"], None)
    makers = [functools.partial(FaultyEnv, fault, i == BAD) for i in range(ENVS)]
    pool = build(ENVS, {"makers": makers})
    pool.reset()
    step = 0
    # Two short of the bad step: the reset of some peers is followed by a step of their own.
    for step in range(45):
        pool.step(step)
    say(type="ready", importS=0, startS=0, versions={})
    pids = pool.worker_pids()
    # Workers hold equal runs of envs; this one holds the bad env.
    holder = pids[BAD * len(pids) // ENVS]

    def on():
        end = time.perf_counter() + WATCH_S
        steps = 0
        while time.perf_counter() < end:
            pool.step(steps)
            steps += 1
        return steps

    for words in orders():
        if words[0] != "go":
            raise ValueError(f"unknown order {words[0]}")
        if fault == "kill":
            timer = threading.Timer(KILL_AFTER_S, os.kill, (holder, signal.SIGKILL))
            timer.daemon = True
            timer.start()
        if not stage(say, "step", on, KILL_AFTER_S if fault == "kill" else 0.0):
            stage(say, "next step", lambda: pool.step(0) and None)
            if stage(say, "reset", lambda: pool.reset() and None):
                stage(say, "step after reset", on)
        stage(say, "close", lambda: pool.close() and None)
        say(type="stage", stage="end", event="went-on", steps=0, afterS=0)


if __name__ == "__main__":
    main()
