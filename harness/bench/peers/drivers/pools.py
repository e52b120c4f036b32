"""Every peer's vector of environments behind one small face: reset(), step(i), rows, close(), worker_pids(). `prepare` imports the peer
and returns a function that builds; the two are apart because imports are paid once and builds per pool."""

import gymnasium
import numpy as np

from tasks import maker, random_actions


class Pool:
    """`step` takes the number of the step, so that the random actions come from a ring."""

    def __init__(self, envs, reset, step, close, workers=lambda: [], action_dtype=np.int64):
        ring = random_actions(envs, dtype=action_dtype)
        self.rows = envs
        self.reset = reset
        self.step = lambda i: step(ring[i % len(ring)])
        self.close = close
        self.worker_pids = workers


def _gymnasium(kind):
    def prepare(_task, make_one):
        from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

        def build(envs, options):
            if kind == "numpy":
                pool = gymnasium.make_vec("CartPole-v1", num_envs=envs, vectorization_mode="vector_entry_point")
            elif kind == "sync":
                pool = SyncVectorEnv([make_one] * envs)
            else:
                fns = options.get("makers") or [make_one] * envs
                pool = AsyncVectorEnv(fns, shared_memory=True, copy=True)
            workers = (lambda: [p.pid for p in pool.processes]) if kind == "async" else (lambda: [])
            return Pool(envs, lambda: pool.reset(seed=1), pool.step, pool.close, workers)

        return build

    return prepare


def _envpool(threads):
    def prepare(_task, _make_one):
        import envpool

        def build(envs, _options):
            more = {} if threads is None else {"num_threads": threads}
            pool = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=envs, seed=1, **more)
            return Pool(envs, pool.reset, pool.step, pool.close, action_dtype=np.int32)

        return build

    return prepare


def _sb3(kind, start_method=None):
    def prepare(_task, make_one):
        from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

        def build(envs, options):
            fns = options.get("makers") or [make_one] * envs
            pool = DummyVecEnv(fns) if kind == "dummy" else SubprocVecEnv(fns, start_method=start_method)
            workers = (lambda: [p.pid for p in pool.processes]) if kind == "subproc" else (lambda: [])
            return Pool(envs, pool.reset, pool.step, pool.close, workers)

        return build

    return prepare


def _puffer(kind, workers=1):
    def prepare(_task, make_one):
        import pufferlib.emulation
        import pufferlib.vector

        def emulated(make):
            return lambda buf=None, seed=0: pufferlib.emulation.GymnasiumPufferEnv(env_creator=make, buf=buf, seed=seed)

        def build(envs, options):
            if kind == "native":
                from pufferlib.ocean.cartpole.cartpole import Cartpole

                # report_interval: the log dict of every step would otherwise be most of the work.
                pool = Cartpole(num_envs=envs, report_interval=128)
                return Pool(envs, lambda: pool.reset(seed=1), pool.step, pool.close, action_dtype=np.float32)
            makers = options.get("makers") or [make_one] * envs
            pool = pufferlib.vector.make(
                [emulated(make) for make in makers],
                env_args=[[]] * envs,
                env_kwargs=[{}] * envs,
                backend=pufferlib.vector.Multiprocessing,
                num_envs=envs,
                num_workers=workers,
                overwork=True,
            )
            return Pool(envs, lambda: pool.reset(seed=1), pool.step, pool.close, lambda: [p.pid for p in pool.processes], np.int32)

        return build

    return prepare


PREPARE = {
    "gym-sync": _gymnasium("sync"),
    "gym-async": _gymnasium("async"),
    "gym-numpy": _gymnasium("numpy"),
    "envpool": _envpool(None),
    "envpool-1": _envpool(1),
    "sb3-dummy": _sb3("dummy"),
    "sb3-subproc": _sb3("subproc", "fork"),
    "puffer-c": _puffer("native"),
    "puffer-1": _puffer("emulated", 1),
    "puffer-2": _puffer("emulated", 2),
}


def prepare(system, task):
    """Imports what `system` needs; the returned function builds its pool: build(envs, options)."""
    make_one = maker(task) if task is not None else None
    return PREPARE[system](task, make_one)
