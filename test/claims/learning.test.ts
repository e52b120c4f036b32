// Goal: the learning claims train every side for the same number of updates with the real learner, keep its books, score raw rewards, and
// repeat bit by bit; a side without modes is plain PPO. Also: the tasks are what their words say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLoadMonitor } from '../../harness/bench/cpu-load.js';
import { readMachineFacts } from '../../harness/bench/machine-facts.js';
import { seededRandom } from '../../harness/chaos/seeded-random.js';
import { startLearnProcess } from '../../harness/claims/learning/learn-process.js';
import { ACTIONS, resetTask, stepTask, type Task, type TaskState, uniformReturn } from '../../harness/claims/learning/task.js';
import { broken, cue, hard, leave, MIXES, sparse, stay } from '../../harness/claims/learning/tasks.js';
import { epsPpo } from '../../harness/claims/rows/eps-ppo.js';
import { rewardNorm } from '../../harness/claims/rows/reward-norm.js';
import { weight22pct } from '../../harness/claims/rows/weight-22pct.js';
import { runClaims } from '../../harness/claims/run-claims.js';
import { runRow } from './run-row.js';

const SLOW = { timeout: 300_000 };

/** Best return by search: from each state the action is tried that keeps the most of `depth` further steps. */
function greedyReturn(task: Task, seed: number): number {
  const state: TaskState = { step: 0, place: 0, random: seededRandom(seed, 1) };
  resetTask(task, state);
  let sum = 0;
  for (let flags = 0; flags === 0; ) {
    // What an action does at once does not depend on chance in these tasks: look at copies with a dead generator.
    const gains = Array.from({ length: ACTIONS }, (_, action) => {
      const copy: TaskState = { ...state, random: () => 0 };
      const before = copy.place;
      const { reward } = stepTask(task, copy, action);
      const onward = ['hard', 'sparse', leave.name].includes(task.name) ? copy.place - before : 0;
      const survives = task.name === stay.name && task.move({ ...state, random: () => 0 }, action).ends ? -1 : 0;
      return reward + onward + survives;
    });
    const stepped = stepTask(task, state, gains.indexOf(Math.max(...gains)));
    sum += stepped.reward;
    flags = stepped.flags;
  }
  return sum;
}

describe('tasks of the learning claims', () => {
  it('pay their best return to the policy that knows them, and less to uniform actions', () => {
    // Goal: a score of 1 is what can be earned, 0 what chance earns.
    for (const task of [cue('easy', 1), cue('large', 10), hard(8), hard(12), sparse(5), sparse(6), leave, stay]) {
      assert.ok(Math.abs(greedyReturn(task, 3) - (task.best as number)) < 1e-9, `${task.name}: ${greedyReturn(task, 3)} for ${task.best}`);
      const floor = uniformReturn(task, seededRandom(1, 2));
      assert.ok(floor < (task.best as number) * (task.best! > 0 ? 0.6 : 2), `${task.name}: uniform actions earn ${floor}`);
    }
    for (const places of [5, 6]) assert.ok(uniformReturn(sparse(places), seededRandom(1, 2)) > 0.01, 'a sparse task is found now and then');
  });

  it('pay a broken env noise around zero whatever is done', () => {
    // Goal: nothing can be learned there.
    const state: TaskState = { step: 0, place: 0, random: seededRandom(9, 1) };
    let sum = 0;
    let steps = 0;
    for (let episode = 0; episode < 2000; episode++) {
      resetTask(broken, state);
      for (let flags = 0; flags === 0; steps++) {
        const stepped = stepTask(broken, state, 1);
        sum += stepped.reward;
        flags = stepped.flags;
      }
    }
    assert.ok(Math.abs(sum / steps) < 5 / Math.sqrt(steps), `mean reward ${sum / steps} over ${steps} steps`);
  });
});

describe('learning claims', () => {
  for (const claim of [weight22pct, rewardNorm, epsPpo]) {
    it(`train all sides of ${claim.id} alike`, SLOW, async () => {
      // Goal: equal work, sane scores, another outcome for another mode. (That the books balance is checked inside the claim.)
      const { entry, values } = await runRow(claim);
      const sides = entry.registered.sides.map(({ name }) => name);
      assert.equal(sides.length, 3);
      for (const side of sides) {
        for (const steps of values('env-steps', side)) assert.ok(steps >= 3 * 4 * 4 * 16, `${side}: ${steps} steps`);
        for (const score of values('final-score', side)) assert.ok(score > 0 && score < 1.5, `${side}: score ${score}`);
        for (const variance of values('loss-variance', side)) assert.ok(variance >= 0, `${side}: variance ${variance}`);
      }
      const fingerprint = (side: string): string => JSON.stringify(values('loss-variance', side));
      assert.equal(new Set(sides.map(fingerprint)).size, 3, 'no two sides trained the same');
    });
  }

  it('repeat bit by bit for equal seeds, and end when they are interrupted', SLOW, async () => {
    // Goal: a reader who gives the seed gets our figures; nobody waits for a training run.
    const size = { envsPerTask: 4, updates: 2, scoreEvery: 1, scoreEpisodes: 2 };
    const request = { mix: 'stability', modes: {}, seed: 5, size } as const;
    const never = new AbortController().signal;
    const first = startLearnProcess();
    const second = startLearnProcess();
    try {
      const once = await first.learn(request, never);
      assert.ok(once !== null);
      assert.deepEqual(await second.learn(request, never), once);
      assert.notDeepEqual(await second.learn({ ...request, seed: 6 }, never), once);
      // Spelled out, off is the same as left out.
      const off = { envWeights: 'off', rewardNorm: 'off', exploration: 'off' } as const;
      assert.deepEqual(await first.learn({ ...request, modes: off }, never), once);
      assert.equal(Object.keys(once.finalScores).length, MIXES.stability.length - 1);
      const stop = new AbortController();
      const long = first.learn({ ...request, size: { ...size, updates: 100_000 } }, stop.signal);
      stop.abort();
      assert.equal(await long, null);
    } finally {
      await first.stop();
      await second.stop();
    }
  });

  it('keep the rounds that were complete when they are interrupted', SLOW, async () => {
    // Goal: whoever presses Ctrl-C after minutes of training has the seeds that are done.
    const stop = new AbortController();
    const record = await runClaims({
      claims: [weight22pct],
      size: 'tiny',
      seed: 7,
      repeats: 1000,
      limitSeconds: 300,
      signal: stop.signal,
      load: createLoadMonitor(),
      machine: readMachineFacts(),
      toolVersion: '0.0.0',
      say: (line) => {
        if (line.includes('round 2 of')) setTimeout(() => stop.abort(), 1);
      },
      onRegistered: () => undefined,
      onEntry: () => undefined,
    });
    const [entry] = record.claims;
    assert.equal(entry?.state, 'cut');
    const rounds = Object.values(entry?.samples['final-score'] ?? {}).map(({ length }) => length);
    assert.equal(rounds.length, 3);
    assert.ok(
      rounds.every((length) => length === rounds[0] && length >= 2 && length < 1000),
      rounds.join(),
    );
  });

  it('say so when the training process dies', SLOW, async () => {
    // Goal: a claim fails with a reason instead of waiting for ever.
    const learner = startLearnProcess();
    const size = { envsPerTask: 4, updates: 100_000, scoreEvery: 10, scoreEpisodes: 2 };
    const run = learner.learn({ mix: 'scales', modes: {}, seed: 1, size }, new AbortController().signal);
    await Promise.all([assert.rejects(run, /ended before its run did/), learner.stop()]);
  });
});
