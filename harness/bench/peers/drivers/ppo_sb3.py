"""Stable-Baselines3's PPO behind the same two calls as ppo_torch.py: update() and learn(). DummyVecEnv, CPU, the library's own nets
(64-64 tanh)."""

import time

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv
from stable_baselines3.common.monitor import Monitor

from tasks import cartpole


class UntilReturn(BaseCallback):
    """Stops once the mean of the last `episodes` training episodes reaches `wanted`, or at the time limit."""

    def __init__(self, wanted, episodes, end):
        super().__init__()
        self.wanted, self.episodes, self.end, self.reached = wanted, episodes, end, False
        self.returns = []

    def _on_step(self):
        for info in self.locals["infos"]:
            if "episode" in info:
                self.returns.append(info["episode"]["r"])
        recent = self.returns[-self.episodes :]
        self.reached = len(recent) >= self.episodes and float(np.mean(recent)) >= self.wanted
        return not self.reached and time.perf_counter() < self.end


class Ppo:
    """`options` are PPO's own; a `linear_from` falls from that value to zero over `schedule_steps`."""

    def __init__(self, envs, options, schedule_steps, seed):
        options = dict(options)
        for name in ("learning_rate", "clip_range"):
            if isinstance(options.get(name), dict):
                start = options[name]["linear_from"]
                options[name] = lambda left, start=start: start * left
        pool = DummyVecEnv([lambda: Monitor(cartpole())] * envs)
        self.model = PPO("MlpPolicy", pool, device="cpu", seed=seed, verbose=0, **options)
        self.rollout = envs * self.model.n_steps
        self.total = schedule_steps or 10**9

    def update(self):
        self.model.learn(self.rollout, reset_num_timesteps=False)
        return self.rollout

    def learn(self, wanted, episodes, limit_s):
        start = time.perf_counter()
        callback = UntilReturn(wanted, episodes, start + limit_s)
        self.model.learn(self.total, callback=callback)
        seconds = time.perf_counter() - start
        return self.model.num_timesteps, seconds if callback.reached else None
