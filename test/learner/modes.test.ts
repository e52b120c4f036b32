// Goal: each learner mode does what its formula says; the sound forms keep what they promise to keep, the account's forms change what the
// documentation says they change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ppoSchema } from '../../harness/contract/ppo-config.js';
import type { ActionSpace } from '../../harness/contract/spaces.js';
import { createEnvScores } from '../../harness/learner/env-scores.js';
import { accountWeights, expectedCopies, importanceWeights } from '../../harness/learner/env-weights.js';
import { createExploration } from '../../harness/learner/exploration.js';
import { headFor } from '../../harness/learner/head-for.js';
import { createMoments } from '../../harness/learner/moments.js';
import { noiseNormal } from '../../harness/learner/noise.js';
import { createRewardNorm } from '../../harness/learner/reward-norm.js';
import { createShuffler } from '../../harness/learner/shuffler.js';
import { near } from './near.js';

const reward = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 100);
const returns = fc.array(reward, { minLength: 1, maxLength: 60 });

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

describe('plan options of learner modes', () => {
  it('stand in no plan that does not name them, and refuse what has no effect', () => {
    // Goal: plans and records without modes are byte for byte what they were; a mode that cannot act is a mistake to be told.
    assert.doesNotMatch(JSON.stringify(ppoSchema.parse({})), /envWeights|rewardNorm|exploration/);
    assert.equal(ppoSchema.parse({ envWeights: 'importance' }).envWeights, 'importance');
    assert.throws(() => ppoSchema.parse({ envWeights: 'sometimes' }), /envWeights/);
    assert.throws(() => ppoSchema.parse({ rewardNorm: 'per-env' }), /rewardNorm/);
    assert.throws(() => ppoSchema.parse({ exploration: 'epsilon' }), /exploration/);
    assert.throws(() => ppoSchema.parse({ envWeights: 'importance', epochs: 1 }), /epochs to 2 or more/);
    assert.doesNotThrow(() => ppoSchema.parse({ envWeights: 'account', epochs: 1 }));
  });
});

describe('env scores', () => {
  it('are 1 for steady returns, fall with their spread, and do not depend on the unit of reward', () => {
    // Goal: a score from 0 to 1 that says how steady, not how good.
    fc.assert(
      fc.property(returns, fc.integer({ min: 1, max: 1000 }), (list, factor) => {
        const scores = createEnvScores();
        scores.addRows(2);
        for (const value of list) {
          scores.add(0, value);
          scores.add(1, factor * value);
        }
        const score = scores.score(0);
        assert.ok(score >= 0 && score <= 1, `score ${score}`);
        near(scores.score(1), score, 1e-6, 'score of the same returns in another unit');
        if (new Set(list).size === 1) near(score, 1, 1e-6, 'score of equal returns');
      }),
    );
  });

  it('equal the plain moments over the first episodes and follow the recent ones afterwards', () => {
    // Goal: the running form is the formula.
    const scores = createEnvScores();
    scores.addRows(1);
    const list = [3, 5, 4, 8, 1, 9, 2, 6, 7, 5];
    for (const value of list) scores.add(0, value);
    const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
    near(scores.score(0), 1 / (1 + deviationOf(list) / mean), 1e-9, 'score of ten episodes');
    for (let i = 0; i < 200; i++) scores.add(0, 5);
    assert.ok(scores.score(0) > 0.99, `what lies 200 episodes back is forgotten: ${scores.score(0)}`);
  });

  it('drop when an env succeeds for the first time', () => {
    // Goal: what the account does to envs that begin to learn is visible: their weight falls.
    const scores = createEnvScores();
    scores.addRows(1);
    for (let i = 0; i < 20; i++) scores.add(0, 0);
    const weight = (): number => accountWeights(scores, Int32Array.of(0), 1, createShuffler(1)).weights[0] as number;
    assert.equal(weight(), 1);
    scores.add(0, 1);
    assert.ok(weight() < 0.5, `weight ${weight()} after the first success`);
  });
});

describe('env weights', () => {
  it('of the account lie between 0.3 and 1, one per env, and visit every sample', () => {
    // Goal: the range that the account names; epochs are plain permutations.
    const scores = createEnvScores();
    scores.addRows(3);
    for (let i = 0; i < 30; i++) for (const [row, value] of [5, i % 3, 10 * (i % 2 === 0 ? 1 : -1)].entries()) scores.add(row, value);
    const { weights, order, of } = accountWeights(scores, Int32Array.of(2, 0, 1), 4, createShuffler(2));
    assert.equal(weights.length, 12);
    for (let r = 0; r < 3; r++) assert.equal(new Set(weights.slice(4 * r, 4 * r + 4)).size, 1);
    near(weights[4], 1, 1e-6, 'steady');
    assert.ok((weights[0] as number) >= 0.3 && (weights[0] as number) < 0.45, `erratic ${weights[0]}`);
    assert.ok((weights[8] as number) > (weights[0] as number) && (weights[8] as number) < 1, `in between ${weights[8]}`);
    const drawn = Int32Array.from({ length: 12 }, (_, i) => i);
    order(3, drawn);
    assert.deepEqual(
      [...drawn].sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i),
    );
    assert.equal(of(0), weights);
  });

  it('by importance draw each sample its expected copies, rounded, and every sample once in the first epoch', () => {
    // Goal: systematic resampling for any shape; what is counted as trained is still every sample.
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 1e6 }),
        (rows, horizon, seed) => {
          const count = rows * horizon;
          const advantages = Float32Array.from(
            { length: count },
            (_, i) => noiseNormal(seed, i, 0, 0) * (1 + (Math.floor(i / horizon) % 3)),
          );
          const copies = expectedCopies(advantages, rows, horizon);
          near(
            copies.reduce((sum, each) => sum + each, 0),
            rows,
            1e-9 * rows,
            'copies add up',
          );
          const { weights, order, of } = importanceWeights(advantages, rows, horizon, createShuffler(seed));
          const drawn = Int32Array.from({ length: count }, (_, i) => i);
          order(0, drawn);
          assert.equal(new Set(drawn).size, count);
          assert.equal(of(0), null);
          order(1, drawn);
          const seen = new Int32Array(count);
          for (const sample of drawn) seen[sample] = (seen[sample] as number) + 1;
          // The last place may be filled where rounding of the sum left it empty: one sample may come once more.
          let over = 0;
          seen.forEach((times, i) => {
            const expected = copies[Math.floor(i / horizon)] as number;
            assert.ok(expected >= 0.3, `expected copies ${expected}`);
            near(weights[i], 1 / expected, 1e-6 / expected, `weight ${i}`);
            if (times > Math.ceil(expected + 1e-9)) over++;
            else assert.ok(times >= Math.floor(expected - 1e-9), `sample ${i}: ${times} of ${expected}`);
          });
          assert.ok(over <= 1, `${over} samples came too often`);
        },
      ),
    );
  });

  it('by importance leave the expectation of every sum over samples as it is', () => {
    // Goal: unbiased. The weighted mean over drawn epochs tends to the plain mean, which the account's weights do not.
    const rows = 5;
    const horizon = 4;
    const count = rows * horizon;
    const advantages = Float32Array.from({ length: count }, (_, i) => noiseNormal(3, i, 0, 0) * (1 + Math.floor(i / horizon)));
    const values = Array.from({ length: count }, (_, i) => noiseNormal(4, i, 0, 0) + Math.floor(i / horizon));
    const plain = values.reduce((sum, value) => sum + value, 0) / count;
    const { order, of } = importanceWeights(advantages, rows, horizon, createShuffler(5));
    const drawn = Int32Array.from({ length: count }, (_, i) => i);
    const epochs: number[] = [];
    for (let epoch = 1; epoch <= 4000; epoch++) {
      order(epoch, drawn);
      const weights = of(epoch) as Float32Array;
      epochs.push(drawn.reduce((sum, sample) => sum + (weights[sample] as number) * (values[sample] as number), 0) / count);
    }
    const mean = epochs.reduce((sum, value) => sum + value, 0) / epochs.length;
    near(mean, plain, (5 * deviationOf(epochs)) / Math.sqrt(epochs.length), 'mean of 4,000 drawn epochs, 5 standard errors');
  });
});

describe('reward normalisation', () => {
  it('keeps moments that equal those of all numbers at once', () => {
    // Goal: Welford's update, place by place.
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 80 }), (list) => {
        const moments = createMoments();
        moments.grow(2);
        for (const value of list) moments.add(1, value + 1e6);
        near(moments.mean(1), 1e6 + list.reduce((sum, value) => sum + value, 0) / list.length, 1e-6, 'mean');
        near(moments.deviation(1), deviationOf(list), 1e-5, 'deviation of numbers far from zero');
        assert.equal(moments.deviation(0), 0);
      }),
    );
  });

  it('of the account centres and scales each reward by what its env has paid so far', () => {
    // Goal: (r - mean) / std, running.
    const norm = createRewardNorm({ rewardNorm: 'account', gamma: 0.9 });
    assert.ok(norm !== null);
    norm.addRows(2, 0);
    const seen: number[] = [];
    for (const value of [4, 8, 6, -2, 10]) {
      seen.push(value);
      const found = norm.see(1, value, false);
      const mean = seen.reduce((sum, each) => sum + each, 0) / seen.length;
      near(found, (value - mean) / (deviationOf(seen) + 1e-8), 1e-6, `reward ${value}`);
    }
    assert.equal(norm.scale(1), 1);
  });

  it('of the account forgets that short episodes were the best ones, scaling by returns does not', () => {
    // Goal: the error of centring, as plain arithmetic: -1 per step, so the shorter of two episodes is better; centred, they are worth the same.
    const worth = (mode: 'account' | 'return-std', length: number): number => {
      const norm = createRewardNorm({ rewardNorm: mode, gamma: 1 });
      assert.ok(norm !== null);
      norm.addRows(1, 0);
      for (let episode = 0; episode < 50; episode++) for (let t = 1; t <= 10; t++) norm.see(0, -1, t === 10);
      let sum = 0;
      for (let t = 1; t <= length; t++) sum += norm.see(0, -1, t === length);
      return sum * norm.scale(0);
    };
    near(worth('account', 3) - worth('account', 30), 0, 1e-6, 'account: 3 steps against 30');
    assert.ok(worth('return-std', 3) > worth('return-std', 30) + 1, `${worth('return-std', 3)} and ${worth('return-std', 30)}`);
  });

  it('by returns never changes which of two episodes of a task is worth more', () => {
    // Goal: a positive factor per task: order of discounted returns kept for episodes of any lengths.
    const episode = fc.array(reward, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(episode, { minLength: 1, maxLength: 10 }), episode, episode, (before, a, b) => {
        const gamma = 0.95;
        const norm = createRewardNorm({ rewardNorm: 'return-std', gamma });
        assert.ok(norm !== null);
        norm.addRows(1, 0);
        for (const rewards of before) for (const [i, value] of rewards.entries()) norm.see(0, value, i === rewards.length - 1);
        const scale = norm.scale(0);
        assert.ok(scale > 0 && Number.isFinite(scale), `scale ${scale}`);
        const worth = (rewards: readonly number[], factor: number) =>
          rewards.reduce((sum, value, t) => sum + gamma ** t * factor * value, 0);
        const plain = worth(a, 1) - worth(b, 1);
        if (Math.abs(plain) > 1e-9) assert.equal(Math.sign(worth(a, scale) - worth(b, scale)), Math.sign(plain));
      }),
    );
  });

  it('by returns scales by the deviation of discounted sums of the whole task, cut where episodes are', () => {
    // Goal: the formula: sums begin anew at the end of an episode and where one was lost; envs of a task share one scale, tasks do not.
    const gamma = 0.5;
    const norm = createRewardNorm({ rewardNorm: 'return-std', gamma });
    assert.ok(norm !== null);
    norm.addRows(2, 0);
    norm.addRows(1, 1);
    const sums: number[] = [];
    const play = (row: number, rewards: readonly number[], ends: boolean): void => {
      let sum = 0;
      rewards.forEach((value, i) => {
        norm.see(row, value, ends && i === rewards.length - 1);
        sum = gamma * sum + value;
        sums.push(sum);
      });
    };
    play(0, [1, 2, 3], true);
    play(0, [4, 5], false);
    norm.begin(0);
    play(0, [6], true);
    play(1, [-2, 7], true);
    near(norm.scale(0), 1 / deviationOf(sums), 1e-9, 'scale of the first task');
    assert.equal(norm.scale(1), norm.scale(0));
    assert.equal(norm.scale(2), 1, 'nothing is known of the other task yet');
    norm.see(2, 100, false);
    norm.see(2, 300, true);
    assert.ok(norm.scale(2) < 0.02 && norm.scale(0) > 0.1, 'each task has its own');
  });
});

describe('exploration', () => {
  const LOGITS = Float32Array.of(2, 0.5, -1);
  const softmax = (temperature: number): number[] => {
    const powers = [...LOGITS].map((logit) => Math.exp(logit / temperature));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  };
  const NONE = new Float32Array(0);

  /** Explorations with one env, erratic or not. */
  function explorer(exploration: 'account' | 'temperature', erratic: boolean) {
    const made = createExploration({ exploration }, { ...createEnvScores(), score: () => (erratic ? 0 : 1) });
    assert.ok(made !== null);
    made.addPlaces(1);
    return made;
  }

  /** Shares of the three actions over many draws, and what was kept for each. */
  function draw(exploration: 'account' | 'temperature', erratic: boolean, draws = 30_000) {
    const made = explorer(exploration, erratic);
    const head = headFor({ type: 'discrete', n: 3 });
    const actions = new Float32Array(1);
    const share = [0, 0, 0];
    const kept = [0, 0, 0];
    const ratio = [1, 1, 1];
    for (let i = 0; i < draws; i++) {
      const noise = { key: 7, envId: 3, draw: i };
      const logProb = made.sample(head, { outputs: LOGITS, at: 0, free: NONE, noise, actions, actionAt: 0 }, 0, 0);
      const action = actions[0] as number;
      share[action] = (share[action] as number) + 1 / draws;
      kept[action] = Math.exp(logProb);
      ratio[action] = made.ratios()?.[0] ?? 1;
    }
    return { share, kept, ratio, error: 5 * Math.sqrt(0.25 / draws) };
  }

  it('at a temperature samples the hotter policy and keeps the probabilities of the policy itself', () => {
    // Goal: pi^(1/T) with T = 1.5 for an erratic env and 1.1 for a steady one.
    for (const [erratic, temperature] of [
      [true, 1.5],
      [false, 1.1],
    ] as const) {
      const { share, kept, ratio, error } = draw('temperature', erratic);
      const hot = softmax(temperature);
      const pi = softmax(1);
      for (let a = 0; a < 3; a++) {
        near(share[a], hot[a] as number, error, `T ${temperature}: share of action ${a}`);
        near(kept[a], pi[a] as number, 1e-6, `kept probability of action ${a}`);
        near(ratio[a], (pi[a] as number) / (hot[a] as number), 2e-3, `ratio of action ${a}`);
        assert.ok((ratio[a] as number) <= 3 ** (1 - 1 / temperature) + 1e-6, 'the ratio is bounded by itself');
      }
    }
  });

  it('at a temperature is right on average: weighted samples tell the mean of the policy, those of the account do not', () => {
    // Goal: true log-probabilities. sum over b of ratio x f = sum over pi of f for every f; epsilon-greedy claims ratio 1 and is off by e (U - pi).
    const worth = [3, -1, 20];
    const pi = softmax(1);
    const wanted = worth.reduce((sum, value, a) => sum + (pi[a] as number) * value, 0);
    const told = ({ share, ratio }: ReturnType<typeof draw>) =>
      worth.reduce((sum, value, a) => sum + (share[a] as number) * (ratio[a] as number) * value, 0);
    near(told(draw('temperature', true)), wanted, 0.3, 'temperature');
    const mixed = worth.reduce((sum, value, a) => sum + (0.7 * (pi[a] as number) + 0.1) * value, 0);
    near(told(draw('account', true)), mixed, 0.3, 'account: what epsilon 0.3 makes of it');
    assert.ok(Math.abs(mixed - wanted) > 1, 'the two differ by far more than the noise');
  });

  it('of the account takes uniform actions with its chance and keeps the log-probability of the policy', () => {
    // Goal: epsilon 0.3 for an erratic env, 0.05 for a steady one.
    for (const [erratic, epsilon] of [
      [true, 0.3],
      [false, 0.05],
    ] as const) {
      const { share, kept, error } = draw('account', erratic);
      const pi = softmax(1);
      for (let a = 0; a < 3; a++) {
        near(share[a], (1 - epsilon) * (pi[a] as number) + epsilon / 3, error, `epsilon ${epsilon}: share of action ${a}`);
        near(kept[a], pi[a] as number, 1e-6, `kept probability of action ${a}`);
      }
    }
  });

  it('heats every head to the same family: power 1 / T up to a constant', () => {
    // Goal: multi-discrete and Gaussian heads too.
    const spaces: ActionSpace[] = [
      { type: 'multi-discrete', nvec: [2, 3] },
      { type: 'box', shape: [2], low: -1, high: 1 },
    ];
    for (const space of spaces) {
      const head = headFor(space);
      const outputs = Float32Array.from({ length: 2 * head.outputs }, (_, i) => noiseNormal(1, i, 0, 0));
      const free = Float32Array.from({ length: head.freeParameters }, (_, i) => 0.3 * noiseNormal(2, i, 0, 0));
      const actions = new Float32Array(head.actionLength);
      const found = { logProb: 0, entropy: 0 };
      const constants: number[] = [];
      for (let i = 0; i < 40; i++) {
        head.sample(outputs, 1, free, { key: 3, envId: 0, draw: i }, actions, 0);
        head.evaluate(outputs, 1, free, actions, 0, found);
        const plain = found.logProb;
        const heated = head.heat(outputs, 1, free, 1.7);
        head.evaluate(heated.outputs, 0, heated.free, actions, 0, found);
        constants.push(found.logProb - plain / 1.7);
      }
      near(Math.max(...constants) - Math.min(...constants), 0, 2e-5, `${space.type}: log b - log pi / T is constant`);
    }
  });

  it('draws uniform actions over the choices and the bounds', () => {
    // Goal: what the account's form falls back to, for every head.
    const head = headFor({ type: 'multi-discrete', nvec: [2, 3] });
    const box = headFor({ type: 'box', shape: [1], low: 10, high: 20 });
    const actions = new Float32Array(2);
    const env = new Float32Array(1);
    const seen = new Map<string, number>();
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < 6000; i++) {
      head.sampleUniform({ key: 5, envId: 1, draw: i }, actions, 0);
      seen.set(actions.join(), (seen.get(actions.join()) ?? 0) + 1);
      box.sampleUniform({ key: 5, envId: 1, draw: i }, actions, 0);
      box.toEnv(actions, 0, env, 0);
      least = Math.min(least, env[0] as number);
      most = Math.max(most, env[0] as number);
    }
    assert.equal(seen.size, 6);
    for (const [pair, count] of seen) near(count, 1000, 5 * Math.sqrt(6000 * (1 / 6) * (5 / 6)), `action ${pair}`);
    assert.ok(least >= 10 && least < 10.02 && most <= 20 && most > 19.98, `${least} to ${most}`);
  });
});
