"""Trains PPO on CartPole-v1. Argument as JSON: {"system": "sb3" | "torch", "config": {...}, "seed", "threads"}. Orders: `window SECONDS` trains whole
updates for at least so long and answers with transitions and seconds; `learn RETURN EPISODES LIMIT_S` answers when it has learned."""

import json
import sys
import time

from wire import open_wire, orders, versions_of

PACKAGES = ["gymnasium", "stable-baselines3", "torch", "numpy"]


def make(spec):
    if spec["system"] == "sb3":
        from ppo_sb3 import Ppo
    else:
        from ppo_torch import Ppo
    return lambda: Ppo(**spec["config"], seed=spec["seed"])


def main():
    spec = json.loads(sys.argv[1])
    say = open_wire()
    began = time.perf_counter()
    import torch

    if spec.get("threads"):
        torch.set_num_threads(spec["threads"])
    build = make(spec)
    imported = time.perf_counter()
    learner = build()
    say(type="ready", importS=imported - began, startS=time.perf_counter() - imported, versions=versions_of(PACKAGES))
    for words in orders():
        if words[0] == "window":
            steps = 0
            start = time.perf_counter()
            while steps == 0 or time.perf_counter() - start < float(words[1]):
                steps += learner.update()
            say(type="window", steps=steps, seconds=time.perf_counter() - start)
        elif words[0] == "learn":
            steps, seconds = learner.learn(float(words[1]), int(words[2]), float(words[3]))
            say(type="learned", steps=steps, seconds=seconds)
        else:
            raise ValueError(f"unknown order {words[0]}")


if __name__ == "__main__":
    main()
