"""Records golden trajectories of Gymnasium's classic-control environments, one JSON file per kind beside this script, and their time limits
in specs.json.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install -r test/golden/requirements.txt
    /tmp/golden/bin/python test/golden/make-golden.py            # add --specs to write specs.json only

20 seeds x 500 steps per kind. Every number is the raw IEEE value in base64, little-endian, so that nothing is lost to decimals.
Per seed: `start_step` and `start_state` (one entry per episode), then one entry per step: `action`, `state` after it (f64), `reward`,
`flags` (1 terminated, 2 truncated by the time limit), and `obs` (f32) where it is not simply the state rounded to float32.
Policies mix random play with ones that reach the goal, so that endings, clamps and time limits are all in the record. 500 steps are too
short for some limits: specs.json has what Gymnasium registers (`max_episode_steps`) and the length of an episode that ran into it.
"""

import base64
import json
import math
import pathlib
import sys

import gymnasium as gym
import numpy as np

SEEDS = 20
STEPS = 500


def cartpole(rng, state, seed):
    if seed % 4 == 3:  # balances for a while: long episodes
        return int(state[2] + 0.5 * state[3] + 0.05 * state[0] + 0.1 * state[1] > 0)
    return int(rng.integers(2))


def mountain_car(rng, state, seed):
    if seed % 2 == 1:  # pushes with the motion: reaches the goal
        return 2 if state[1] >= 0 else 0
    return int(rng.integers(3))


def mountain_car_continuous(rng, state, seed):
    if seed % 2 == 1:
        return np.array([1.0 if state[1] >= 0 else -1.0], dtype=np.float32) * np.float32(rng.uniform(0.7, 1.3))
    return rng.uniform(-1.5, 1.5, 1).astype(np.float32)  # a third is out of bounds and clamped


def pendulum(rng, state, seed):
    if seed % 2 == 1:  # pumps energy
        return np.array([math.copysign(2.2, state[1])], dtype=np.float32)
    return rng.uniform(-2.5, 2.5, 1).astype(np.float32)


def acrobot(rng, state, seed):
    if seed % 2 == 1:  # pumps energy: reaches the line
        return 2 if state[3] > 0 else 0
    return int(rng.integers(3))


# name, Gymnasium id, policy, whether the observation is the state in float32, element types of action and reward
KINDS = [
    ("cartpole", "CartPole-v1", cartpole, True, "u1", "f4"),
    ("mountain-car", "MountainCar-v0", mountain_car, True, "u1", "f4"),
    ("mountain-car-continuous", "MountainCarContinuous-v0", mountain_car_continuous, True, "f4", "f8"),
    ("acrobot", "Acrobot-v1", acrobot, False, "u1", "f4"),
    ("pendulum", "Pendulum-v1", pendulum, False, "f4", "f8"),
]


def pack(values, dtype):
    return base64.b64encode(np.array(values, dtype="<" + dtype).tobytes()).decode()


def record(name, gym_id, policy, plain, action_type, reward_type):
    runs = []
    for seed in range(SEEDS):
        env = gym.make(gym_id, disable_env_checker=True)
        rng = np.random.default_rng(1000 + seed)
        obs, _ = env.reset(seed=seed)
        state = lambda: np.array(env.unwrapped.state, dtype=np.float64)
        start_step, start_state, start_obs = [0], [state()], [obs]
        actions, states, rewards, flags, seen = [], [], [], [], []
        for step in range(STEPS):
            action = policy(rng, state(), seed)
            obs, reward, terminated, truncated, _ = env.step(action)
            if plain:
                assert np.array_equal(obs, state().astype(np.float32))
            if reward_type == "f4":
                assert np.float64(np.float32(reward)) == reward
            actions.append(action)
            states.append(state())
            rewards.append(reward)
            flags.append(int(terminated) | 2 * int(truncated))
            seen.append(obs)
            if (terminated or truncated) and step + 1 < STEPS:
                obs, _ = env.reset()
                start_step.append(step + 1)
                start_state.append(state())
                start_obs.append(obs)
        run = {
            "seed": seed,
            "start_step": start_step,
            "start_state": pack(start_state, "f8"),
            "action": pack(actions, action_type),
            "state": pack(states, "f8"),
            "reward": pack(rewards, reward_type),
            "flags": pack(flags, "u1"),
        }
        if not plain:
            run["start_obs"] = pack(start_obs, "f4")
            run["obs"] = pack(seen, "f4")
        runs.append(run)
    ends = sum(base64.b64decode(run["flags"]).count(1) for run in runs)
    print(f"{name}: {ends} terminations, {sum(len(run['start_step']) for run in runs)} episodes")
    golden = {
        "kind": name,
        "made_with": f"gymnasium {gym.__version__}, numpy {np.__version__}, {gym_id}",
        "steps": STEPS,
        "action_type": action_type,
        "reward_type": reward_type,
        "runs": runs,
    }
    path = pathlib.Path(__file__).parent / f"{name}.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


def truncated_after(gym_id, policy):
    """Steps of the first episode that the time limit ends, over the seeds of the record."""
    for seed in range(SEEDS):
        env = gym.make(gym_id, disable_env_checker=True)
        rng = np.random.default_rng(1000 + seed)
        env.reset(seed=seed)
        steps, terminated, truncated = 0, False, False
        while not (terminated or truncated):
            _, _, terminated, truncated, _ = env.step(policy(rng, np.array(env.unwrapped.state, dtype=np.float64), seed))
            steps += 1
        if truncated and not terminated:
            return steps
    raise SystemExit(f"{gym_id}: no episode of {SEEDS} seeds ran into the time limit")


def record_specs():
    specs = {
        name: {
            "id": gym_id,
            "max_episode_steps": gym.spec(gym_id).max_episode_steps,
            "truncated_after": truncated_after(gym_id, policy),
        }
        for name, gym_id, policy, *_ in KINDS
    }
    path = pathlib.Path(__file__).parent / "specs.json"
    path.write_text(json.dumps({"made_with": f"gymnasium {gym.__version__}", "kinds": specs}, indent=2) + "\n")


record_specs()
if "--specs" not in sys.argv[1:]:
    for kind in KINDS:
        record(*kind)
