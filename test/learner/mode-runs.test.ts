// Goal: every learner mode runs through the whole learner (settle, sample, update, balance) and still learns; modes that are off change no bit.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TERMINATED, TRUNCATED } from '../../harness/contract/frame-flags.js';
import type { PpoConfig } from '../../harness/contract/ppo-config.js';
import { openBackend } from '../../harness/learner/backends.js';
import { accountedFrames } from '../../harness/learner/balance.js';
import { near } from './near.js';
import { createTinyRig, type TinyEnv } from './tiny-rig.js';

const SLOW = { timeout: 120_000 };
type Modes = Pick<PpoConfig, 'envWeights' | 'rewardNorm' | 'exploration'>;

/** Episodes of 6 steps; the observation names the action that pays `pay`. */
function bandit(pay: number, box = false): TinyEnv & { readonly mean: () => number; clear(): void } {
  const wanted: number[] = [];
  const steps: number[] = [];
  let turn = 0;
  let sum = 0;
  let count = 0;
  const show = (i: number, obs: Float32Array): void => {
    wanted[i] = (i + turn++) % 2;
    obs[0] = wanted[i] === 1 ? 1 : -1;
  };
  return {
    spaces: {
      observation: { obs: { dtype: 'f32', shape: [1], low: -1, high: 1 } },
      action: box ? { type: 'box', shape: [1], low: -2, high: 2 } : { type: 'discrete', n: 2 },
    },
    reset(i, obs) {
      steps[i] = 0;
      show(i, obs);
    },
    step(i, action, obs) {
      const target = wanted[i] as number;
      const right = box ? Math.max(0, 1 - Math.abs((action[0] as number) - (target === 1 ? 1 : -1))) : action[0] === target ? 1 : 0;
      show(i, obs);
      steps[i] = (steps[i] ?? 0) + 1;
      sum += right;
      count++;
      return { reward: pay * right, flags: steps[i] === 6 ? (i % 2 === 0 ? TERMINATED : TRUNCATED) : 0 };
    },
    mean: () => sum / count,
    clear() {
      sum = 0;
      count = 0;
    },
  };
}

async function weightsAfter(modes: Modes, updates: number): Promise<string> {
  const backend = await openBackend('wasm');
  const rig = createTinyRig({ env: bandit(1), envs: 6, backend, ppo: { ...modes, epochs: 3 } });
  await rig.run({ updates });
  const text = rig
    .policy()
    .parameters.map(({ data }) => Buffer.from(data.buffer).toString('hex'))
    .join();
  rig.group.agent.dispose();
  return text;
}

describe('learner modes in a run', () => {
  it('change no bit of the weights when they are off, and every mode changes some', SLOW, async () => {
    // Goal: off is plain PPO; each mode reaches the update.
    const plain = await weightsAfter({}, 6);
    assert.equal(await weightsAfter({ envWeights: 'off', rewardNorm: 'off', exploration: 'off' }, 6), plain);
    const each: Modes[] = [
      { envWeights: 'account' },
      { envWeights: 'importance' },
      { rewardNorm: 'account' },
      { rewardNorm: 'return-std' },
      { exploration: 'account' },
      { exploration: 'temperature' },
    ];
    const seen = new Set([plain]);
    for (const modes of each) seen.add(await weightsAfter(modes, 6));
    assert.equal(seen.size, 1 + each.length, 'plain PPO and six modes: seven different policies');
    assert.equal(await weightsAfter({ envWeights: 'importance' }, 6), await weightsAfter({ envWeights: 'importance' }, 6), 'seeded');
  });

  it('bring the ratios of a temperature into the update', SLOW, async () => {
    // Goal: the weights that make the samples right are really used, each for its own sample: others give other weights of the policy.
    const backend = await openBackend('wasm');
    const after = async (change: (ratios: Float32Array) => Float32Array | null): Promise<string> => {
      const rig = createTinyRig({ env: bandit(1), envs: 6, backend, ppo: { exploration: 'temperature' } });
      const exploration = rig.policy().modes?.exploration;
      assert.ok(exploration);
      const own = exploration.ratios.bind(exploration);
      exploration.ratios = () => change(own() as Float32Array);
      await rig.run({ updates: 1 });
      const text = rig
        .policy()
        .parameters.map(({ data }) => Buffer.from(data.buffer).toString('hex'))
        .join();
      rig.group.agent.dispose();
      return text;
    };
    const kept = await after((ratios) => ratios);
    const ones = await after((ratios) => ratios.map(() => 1));
    assert.notEqual(ones, kept);
    assert.equal(await after(() => null), ones, 'no ratios are ratios of one');
    assert.notEqual(await after((ratios) => ratios.slice().reverse()), kept, 'each belongs to its sample');
  });

  it('keep the books and learn a small task, with discrete and continuous actions, in every autoreset mode', SLOW, async () => {
    // Goal: the sound forms together are still a working learner; the account's forms run too.
    const sound: Modes = { envWeights: 'importance', rewardNorm: 'return-std', exploration: 'temperature' };
    const told: Modes = { envWeights: 'account', rewardNorm: 'account', exploration: 'account' };
    const backend = await openBackend('wasm');
    for (const [modes, box, autoreset, goal] of [
      [sound, false, 'next-step', 0.8],
      [sound, false, 'same-step', 0.8],
      [sound, false, 'disabled', 0.8],
      [sound, true, 'next-step', 0.4],
      [told, false, 'next-step', 0.7],
    ] as const) {
      const env = bandit(20, box);
      const ppo = {
        ...modes,
        horizon: 8,
        epochs: 8,
        minibatch: 64,
        gamma: 0.5,
        learningRate: 0.01,
        entropy: 0.001,
        targetKl: 0,
        hidden: [16],
      };
      const rig = createTinyRig({ env, envs: 16, backend, autoreset, ppo });
      await rig.run({ updates: 60 });
      env.clear();
      await rig.run({ updates: 10 });
      assert.ok(env.mean() > goal, `${JSON.stringify(modes)}, ${autoreset}: share of right actions ${env.mean()}, wanted ${goal}`);
      rig.group.finish();
      assert.equal(accountedFrames(rig.balance), rig.group.scan().taken, 'every frame taken has one fate');
      assert.equal(rig.balance.pending, 0);
      rig.group.agent.dispose();
    }
  });

  it('make the critic learn scaled rewards under return-std, whatever the scale of the task', SLOW, async () => {
    // Goal: targets of a task that pays 1,000 and of one that pays 0.001 are of one size; without the mode they are not.
    const backend = await openBackend('wasm');
    const valueLoss = async (pay: number, rewardNorm: NonNullable<Modes['rewardNorm']>): Promise<number> => {
      const rig = createTinyRig({ env: bandit(pay), envs: 8, backend, ppo: { rewardNorm, gamma: 0.9, targetKl: 0 } });
      await rig.run({ updates: 3 });
      const loss = rig.group.agent.losses['value_loss'] as number;
      rig.group.agent.dispose();
      return loss;
    };
    near(
      Math.log10((await valueLoss(1000, 'return-std')) / (await valueLoss(1, 'return-std'))),
      0,
      0.01,
      'decades between 1000 and 1, scaled',
    );
    near(Math.log10((await valueLoss(1000, 'off')) / (await valueLoss(1, 'off'))), 6, 0.8, 'decades between 1000 and 1, as they come');
  });
});
