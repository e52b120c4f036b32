import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUTORESET_MODES, TERMINATED, TRUNCATED } from '../../harness/contract/frame-flags.js';
import type { Spaces } from '../../harness/contract/spaces.js';
import { openBackend } from '../../harness/learner/backends.js';
import { onEachBackend } from './backends-under-test.js';
import { near } from './near.js';
import { createTinyRig, type TinyEnv } from './tiny-rig.js';

const SLOW = { timeout: 120_000 };
const ONE: Spaces['observation'] = { obs: { dtype: 'f32', shape: [1], low: -1, high: 1 } };

/** Reward 1 for ever, cut every 10 steps with `flags`. The observation never changes, so V is one number. */
function endless(flags: number): TinyEnv {
  const steps: number[] = [];
  return {
    spaces: { observation: ONE, action: { type: 'discrete', n: 2 } },
    reset(i, obs) {
      steps[i] = 0;
      obs[0] = 1;
    },
    step(i, _action, obs) {
      obs[0] = 1;
      steps[i] = (steps[i] ?? 0) + 1;
      return { reward: 1, flags: steps[i] === 10 ? flags : 0 };
    },
  };
}

/** The action decides the reward: 1 for the wanted one, which the observation names. */
function bandit(action: Spaces['action'], rewardOf: (wanted: number, action: ArrayLike<number>) => number): TinyEnv {
  const wanted: number[] = [];
  let turn = 0;
  const show = (i: number, obs: Float32Array): void => {
    wanted[i] = (i + turn++) % 2;
    obs[0] = wanted[i] === 1 ? 1 : -1;
  };
  return {
    spaces: { observation: ONE, action },
    reset: show,
    step(i, chosen, obs) {
      const reward = rewardOf(wanted[i] as number, chosen);
      show(i, obs);
      return { reward, flags: 0 };
    },
  };
}

describe('learning', () => {
  it('values an endless task at 1 / (1 - gamma) under a time limit, in every autoreset mode', SLOW, async () => {
    // Goal: truncation bootstraps from V(final). Reward 1, limit 10, gamma 0.9: V tends to 10. Taking the cut for a death gives the
    // mean of the ten positions, near 4: the same learner shows it when the env says TERMINATED, so the probe can tell the two apart.
    const backend = await openBackend('wasm');
    await backend.tf.setBackend('wasm');
    const ppo = {
      horizon: 16,
      epochs: 4,
      minibatch: 128,
      gamma: 0.9,
      lambda: 0.95,
      learningRate: 0.02,
      hidden: [4],
      entropy: 0,
      targetKl: 0,
      maxGradNorm: 0,
    };
    const valueAfter = async (flags: number, autoreset: (typeof AUTORESET_MODES)[number]): Promise<number> => {
      const rig = createTinyRig({ env: endless(flags), envs: 8, autoreset, backend, ppo });
      await rig.run({ updates: 120 });
      const [value] = rig.policy().network.infer([Float32Array.of(1)], 1).values;
      rig.group.agent.dispose();
      return value as number;
    };
    for (const mode of AUTORESET_MODES) {
      near(await valueAfter(TRUNCATED, mode), 10, 0.5, `${mode}: V under truncation`);
      // Both flags: it died on the time limit's step; no bootstrap.
      near(await valueAfter(TERMINATED | TRUNCATED, mode), 4, 1.2, `${mode}: V under death`);
    }
  });

  it('learns a two-state task with each kind of action', SLOW, async () => {
    // Goal: heads, loss and optimiser together go uphill on every backend.
    const tasks: [string, TinyEnv, number][] = [
      ['discrete', bandit({ type: 'discrete', n: 2 }, (wanted, a) => (a[0] === wanted ? 1 : 0)), 0.9],
      [
        'multi-discrete',
        bandit({ type: 'multi-discrete', nvec: [2, 3] }, (wanted, a) => (a[0] === wanted ? 0.5 : 0) + (a[1] === 2 * wanted ? 0.5 : 0)),
        0.9,
      ],
      [
        'box',
        bandit({ type: 'box', shape: [1], low: -2, high: 2 }, (wanted, a) => 1 - Math.abs((a[0] as number) - (wanted === 1 ? 1 : -1))),
        0.5,
      ],
    ];
    await onEachBackend(async (backend) => {
      for (const [name, env, goal] of tasks) {
        let rewards = 0;
        let steps = 0;
        const counted: TinyEnv = {
          ...env,
          step(i, action, obs) {
            const result = env.step(i, action, obs);
            rewards += result.reward;
            steps++;
            return result;
          },
        };
        const rig = createTinyRig({
          env: counted,
          envs: 16,
          backend,
          ppo: { horizon: 8, epochs: 8, minibatch: 64, gamma: 0.5, learningRate: 0.01, entropy: 0.001, targetKl: 0, hidden: [16] },
        });
        await rig.run({ updates: 60 });
        rewards = 0;
        steps = 0;
        await rig.run({ updates: 10 });
        const mean = rewards / steps;
        assert.ok(mean > goal, `${backend.name}, ${name}: mean reward ${mean}, wanted more than ${goal}`);
        rig.group.agent.dispose();
      }
    });
  });

  it('gives equal weights for equal seeds and frames, others for another seed', SLOW, async () => {
    // Goal: a run can be repeated bit by bit.
    await onEachBackend(async (backend) => {
      const weights = async (seed: number): Promise<string> => {
        const rig = createTinyRig({
          env: bandit({ type: 'discrete', n: 2 }, (wanted, a) => (a[0] === wanted ? 1 : 0)),
          envs: 6,
          seed,
          backend,
        });
        await rig.run({ updates: 5 });
        const text = rig
          .policy()
          .parameters.map(({ data }) => Buffer.from(data.buffer).toString('hex'))
          .join();
        rig.group.agent.dispose();
        return text;
      };
      const first = await weights(1);
      assert.equal(await weights(1), first, backend.name);
      assert.notEqual(await weights(2), first, backend.name);
    });
  });

  it('stops the epochs of an update once the policy has moved too far', SLOW, async () => {
    // Goal: targetKl bounds an update; what never entered a gradient step is superseded, not trained.
    const backend = await openBackend('wasm');
    await backend.tf.setBackend('wasm');
    const env = bandit({ type: 'discrete', n: 2 }, (wanted, a) => (a[0] === wanted ? 1 : -1));
    const run = async (targetKl: number, minibatch: number) => {
      const rig = createTinyRig({
        env,
        envs: 16,
        backend,
        ppo: { horizon: 8, epochs: 10, minibatch, learningRate: 0.05, targetKl, maxGradNorm: 0 },
      });
      await rig.run({ updates: 1 });
      const result = {
        steps: rig.group.agent.losses.gradient_steps as number,
        kl: rig.group.agent.losses.kl as number,
        trained: rig.balance.trained,
        superseded: rig.balance.superseded,
      };
      rig.group.agent.dispose();
      return result;
    };
    const free = await run(0, 128);
    assert.equal(free.steps, 10);
    assert.equal(free.trained, 128, 'a sample counts once, however many epochs it went through');
    const bounded = await run(0.01, 128);
    assert.ok(bounded.steps < 10 && bounded.steps >= 1, `${bounded.steps} steps`);
    assert.ok(bounded.kl > 0.01, 'the step that was refused had passed the target');
    assert.deepEqual([bounded.trained, bounded.superseded], [128, 0], 'the whole first epoch was trained');
    const early = await run(1e-6, 16);
    assert.equal(early.trained + early.superseded, 128);
    assert.ok(early.superseded > 0 && early.trained >= 16, `${early.trained} trained, ${early.superseded} left out`);
  });

  it('acts the same in random mode whatever the order of arrival', () => {
    // Goal: random runs are equal for any number of workers: draws depend on (seed, env id, draw) alone.
    const actionsOf = async (batch: number): Promise<string> => {
      const seen: number[][] = Array.from({ length: 7 }, () => []);
      const env: TinyEnv = {
        spaces: { observation: ONE, action: { type: 'discrete', n: 5 } },
        reset: () => undefined,
        step(i, action) {
          seen[i]?.push(action[0] as number);
          return { reward: 0, flags: 0 };
        },
      };
      const rig = createTinyRig({ env, envs: 7, mode: 'random', ppo: { batch } });
      await rig.run({ turns: 30 });
      return JSON.stringify(seen.map((actions) => actions.slice(0, 20)));
    };
    return Promise.all([actionsOf(7), actionsOf(3), actionsOf(1)]).then(([all, some, single]) => {
      assert.equal(some, all);
      assert.equal(single, all);
    });
  });
});
