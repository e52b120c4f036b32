// The Python environments of the peers: versions that install together, one virtual environment per group that excludes the others
// (gymnasium 0.29 and 1.4, numpy 1 and 2). What each needs and how it is built is written here; making them is make-venv.ts.

export const VENV_NAMES = ['gymnasium', 'envpool', 'sb3', 'puffer'] as const;
export type VenvName = (typeof VENV_NAMES)[number];

export interface VenvRecipe {
  readonly packages: readonly string[];
  /** Another venv whose packages it sees after its own: torch lies on disk once. */
  readonly sees: VenvName | null;
  /** A source package that pip cannot install as it is; built in place by build-puffer.py. */
  readonly source: string | null;
  /** Free bytes that must be there before it is made. */
  readonly diskBytes: number;
  /** Proves it, and compiles its modules once, so that no measured start pays for that. */
  readonly proof: string;
  /** For people, while it is made. */
  readonly about: string;
}

const GIB = 2 ** 30;

export const VENV_RECIPES: Readonly<Record<VenvName, VenvRecipe>> = {
  gymnasium: {
    packages: ['numpy==2.4.6', 'gymnasium==1.4.0'],
    sees: null,
    source: null,
    diskBytes: GIB / 2,
    proof: 'import gymnasium.vector; gymnasium.make_vec("CartPole-v1", num_envs=2)',
    about: 'some seconds',
  },
  envpool: {
    packages: ['numpy==2.4.6', 'gymnasium==1.4.0', 'envpool==1.2.5'],
    sees: null,
    source: null,
    diskBytes: 2 * GIB,
    proof: 'import envpool; envpool.make("CartPole-v1", env_type="gymnasium", num_envs=2)',
    about: 'about a minute',
  },
  sb3: {
    packages: ['numpy==2.4.6', 'gymnasium==1.4.0', 'torch==2.15.0', 'stable-baselines3==2.9.2'],
    sees: null,
    source: null,
    // The wheel of this version on the package index is the CUDA build, used on the CPU here: 6 GB, and the wheels in pip's cache.
    diskBytes: 12 * GIB,
    proof: 'import torch, stable_baselines3; torch.ones(2) @ torch.ones(2)',
    about: 'minutes, 6 GB on disk: torch',
  },
  puffer: {
    packages: [
      'numpy==1.26.4',
      'gymnasium==0.29.1',
      'gym==0.23.0',
      'pettingzoo==1.24.1',
      'setuptools<80',
      'wheel',
      'psutil',
      'shimmy[gym-v21]',
    ],
    sees: 'sb3',
    source: 'pufferlib==3.0.0',
    diskBytes: GIB,
    proof: 'import pufferlib.vector, pufferlib.ocean.cartpole.cartpole',
    about: 'minutes: compiled from source',
  },
};
