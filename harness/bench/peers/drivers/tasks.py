"""The environments that every peer is asked to step: CartPole-v1 as the peer ships it, and a dict observation of the account's shapes
whose step is three fills, so that what is measured is the way of an observation and not the drawing of it."""

import os
import time

import gymnasium
import numpy as np

RGB = (224, 224, 3)
STATE = 128
VECTOR = 64
ACTIONS = 2


class FillEnv(gymnasium.Env):
    """Endless; each step fills rgb u8[224,224,3], state f32[128] and vector f32[64] with a number."""

    observation_space = gymnasium.spaces.Dict(
        {
            "rgb": gymnasium.spaces.Box(0, 255, RGB, np.uint8),
            "state": gymnasium.spaces.Box(-1, 1, (STATE,), np.float32),
            "vector": gymnasium.spaces.Box(-1, 1, (VECTOR,), np.float32),
        }
    )
    action_space = gymnasium.spaces.Discrete(ACTIONS)
    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self):
        self.count = 0
        self.obs = {
            "rgb": np.zeros(RGB, np.uint8),
            "state": np.zeros(STATE, np.float32),
            "vector": np.zeros(VECTOR, np.float32),
        }

    def _fill(self):
        self.count += 1
        self.obs["rgb"].fill(self.count & 255)
        self.obs["state"].fill((self.count & 255) / 255)
        self.obs["vector"].fill((self.count & 255) / 255)
        return self.obs

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return self._fill(), {}

    def step(self, action):
        return self._fill(), 0.0, False, False, {}


class FaultyEnv(gymnasium.Env):
    """Endless, four floats; env `bad` raises or hangs at its 50th step, once the bench has armed it by making the file `arm`."""

    observation_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(ACTIONS)
    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, fault, bad):
        self.fault = fault if bad else None
        self.steps = 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(4, np.float32), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 50:
            if self.fault == "raise":
                raise RuntimeError("the environment broke at step 50")
            if self.fault == "hang":
                while True:
                    time.sleep(60)
        return np.full(4, self.steps % 7 / 7, np.float32), 0.0, False, False, {}


def cartpole():
    return gymnasium.make("CartPole-v1")


def maker(task):
    """A function that makes one env of `task`."""
    return {"cartpole": cartpole, "dict": FillEnv}[task]


def random_actions(envs, rows=97, dtype=np.int64):
    """A ring of random actions, made before any window, so that no peer pays for drawing them."""
    return np.random.default_rng(1).integers(0, ACTIONS, size=(rows, envs)).astype(dtype)


def pid():
    return os.getpid()
