"""PPO in one file of torch, in the shape of CleanRL's ppo.py, over gymnasium's own vectorised CartPole: what a person would write who
wants speed on a CPU and no framework. Next-step autoreset rows are neither trained nor counted; truncation bootstraps from V(final)."""

import time

import gymnasium
import numpy as np
import torch
from torch import nn


def net(sizes, last_gain):
    layers = []
    for at, (into, out) in enumerate(zip(sizes, sizes[1:])):
        layer = nn.Linear(into, out)
        final = at == len(sizes) - 2
        nn.init.orthogonal_(layer.weight, last_gain if final else 2**0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer] if final else [layer, nn.Tanh()]
    return nn.Sequential(*layers)


class Ppo:
    """`update()` collects one rollout and trains on it; returns the transitions trained."""

    def __init__(self, envs, horizon, minibatch, epochs, gamma, lam, learning_rate, entropy, schedule_steps, seed):
        torch.manual_seed(seed)
        self.envs, self.horizon, self.minibatch, self.epochs = envs, horizon, minibatch, epochs
        self.gamma, self.lam, self.entropy = gamma, lam, entropy
        self.learning_rate, self.schedule_steps = learning_rate, schedule_steps
        self.random = np.random.default_rng(seed)
        self.pool = gymnasium.make_vec("CartPole-v1", num_envs=envs, vectorization_mode="vector_entry_point")
        self.actor = net([4, 64, 64, 2], 0.01)
        self.critic = net([4, 64, 64, 1], 1.0)
        self.weights = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimiser = torch.optim.Adam(self.weights, lr=learning_rate, eps=1e-5)
        self.obs, _ = self.pool.reset(seed=seed)
        self.ended = np.zeros(envs, bool)
        self.steps = 0
        self.running = np.zeros(envs)
        self.returns = []

    @torch.no_grad()
    def collect(self):
        shape = (self.horizon, self.envs)
        obs = np.empty((self.horizon + 1, self.envs, 4), np.float32)
        actions = np.empty(shape, np.int64)
        logps, rewards = np.empty(shape, np.float32), np.empty(shape, np.float32)
        valid, terminated, done = np.empty(shape, bool), np.empty(shape, bool), np.empty(shape, bool)
        for t in range(self.horizon):
            obs[t] = self.obs
            logits = torch.log_softmax(self.actor(torch.from_numpy(obs[t])), 1).numpy()
            # Two actions: one uniform number decides.
            actions[t] = self.random.random(self.envs) < np.exp(logits[:, 1])
            logps[t] = np.take_along_axis(logits, actions[t][:, None], 1)[:, 0]
            # The step after an end is the reset: its action was not the policy's.
            valid[t] = ~self.ended
            self.obs, rewards[t], terminated[t], truncated, _ = self.pool.step(actions[t])
            done[t] = self.ended = terminated[t] | truncated
            self.running += np.where(valid[t], rewards[t], 0)
            for env in np.flatnonzero(self.ended):
                self.returns.append(self.running[env])
                self.running[env] = 0
        obs[self.horizon] = self.obs
        self.steps += valid.size
        values = self.critic(torch.from_numpy(obs)).squeeze(-1).numpy()
        advantages = np.zeros(shape, np.float32)
        last = np.zeros(self.envs, np.float32)
        for t in reversed(range(self.horizon)):
            delta = rewards[t] + self.gamma * values[t + 1] * ~terminated[t] - values[t]
            last = delta + self.gamma * self.lam * ~done[t] * last
            advantages[t] = last
        keep = valid.reshape(-1)
        flat = lambda x: torch.from_numpy(np.ascontiguousarray(x.reshape(len(keep), *x.shape[2:])[keep]))
        return flat(obs[:-1]), flat(actions), flat(logps), flat(advantages), flat(advantages + values[:-1])

    def update(self):
        if self.schedule_steps:
            left = max(0.0, 1 - self.steps / self.schedule_steps)
            self.optimiser.param_groups[0]["lr"] = self.learning_rate * left
        obs, actions, old, advantages, targets = self.collect()
        rows = len(obs)
        for _ in range(self.epochs):
            order = torch.randperm(rows)
            for at in range(0, rows, self.minibatch):
                some = order[at : at + self.minibatch]
                logits = torch.log_softmax(self.actor(obs[some]), 1)
                logp = logits.gather(1, actions[some, None])[:, 0]
                advantage = advantages[some]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                ratio = (logp - old[some]).exp()
                policy = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
                value = 0.5 * (self.critic(obs[some])[:, 0] - targets[some]).square().mean()
                entropy = -(logits.exp() * logits).sum(1).mean()
                loss = policy - self.entropy * entropy + 0.5 * value
                self.optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.weights, 0.5)
                self.optimiser.step()
        return rows

    def learn(self, wanted, episodes, limit_s):
        """Steps and seconds until the mean of the last `episodes` returns reaches `wanted`; seconds is None when the limit came first."""
        start = time.perf_counter()
        while time.perf_counter() - start < limit_s:
            self.update()
            if len(self.returns) >= episodes and np.mean(self.returns[-episodes:]) >= wanted:
                return self.steps, time.perf_counter() - start
        return self.steps, None
