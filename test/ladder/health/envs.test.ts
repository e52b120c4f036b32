// Goal: what the report says of single envs is what happened to them: live time, gaps, who falls behind, what became of whom.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENV_STATE_CODE, type EnvState } from '../../../harness/contract/env-state.js';
import { HEALTH_STATE_LETTERS, HEALTH_STATES } from '../../../harness/contract/health-report.js';
import { createEnvWatch } from '../../../harness/ladder/health/env-watch.js';
import { createEventBook } from '../../../harness/ladder/health/event-book.js';
import { packStates } from '../../../harness/ladder/health/health-record.js';
import { createRestartLine } from '../../../harness/ladder/health/restart-line.js';
import { slowestOf, stabilityOf } from '../../../harness/ladder/health/stability.js';
import { createSuspensions } from '../../../harness/ladder/health/suspensions.js';

const codes = (...states: EnvState[]) => Uint8Array.from(states, (state) => ENV_STATE_CODE[state]);
const ranges = [
  { first: 0, count: 2, entry: 'cart', worker: 0 },
  { first: 2, count: 2, entry: 'pole', worker: 1 },
];
const workerOf = Int32Array.of(0, 0, 1, 1);

test('live time, planned time, gaps and score of four envs over ten seconds', () => {
  // Goal: the formula of docs/health.md on a case one can count by hand.
  const watch = createEnvWatch(4);
  const looks: [EnvState, EnvState, EnvState, EnvState][] = [
    ['not-started', 'not-started', 'not-started', 'not-started'],
    ['live', 'live', 'live', 'not-started'],
    ['live', 'slow', 'live', 'not-started'],
    ['live', 'slow', 'live', 'live'],
    ['live', 'restarted', 'live', 'quarantined'],
    ['live', 'restarted', 'live', 'quarantined'],
    ['live', 'restarted', 'live', 'quarantined'],
  ];
  // Worker 1 stands still at the last two looks: its live env is stale, its quarantined one stays quarantined.
  for (const [s, states] of looks.entries()) watch.look(s, codes(...states), workerOf, [false, s >= 5]);
  assert.deepEqual(
    [...watch.states].map((code) => HEALTH_STATES[code]),
    ['live', 'restarted', 'stale', 'quarantined'],
  );
  assert.deepEqual([...watch.plannedS], [5, 5, 5, 3]);
  assert.deepEqual([...watch.liveS], [5, 2, 3, 0]);
  const gaps = watch.gaps(6);
  assert.deepEqual([gaps.times, gaps.total_s], [3, 3 + 2 + 3]);
  assert.deepEqual(gaps.classes, [0, 3, 0, 0, 0, 0, 0]);
  assert.deepEqual(gaps.longest, [
    { env_id: 1, from_s: 1, seconds: 3, state: 'slow', open: false },
    { env_id: 3, from_s: 3, seconds: 3, state: 'quarantined', open: true },
    { env_id: 2, from_s: 4, seconds: 2, state: 'stale', open: true },
  ]);
  assert.deepEqual(stabilityOf(ranges, watch.liveS, watch.plannedS), [
    { entry: 'cart', envs: 2, planned_s: 10, score: 0.7, worst: 0.4, worst_env_id: 1, below_99: 1 },
    { entry: 'pole', envs: 2, planned_s: 8, score: 3 / 8, worst: 0, worst_env_id: 3, below_99: 2 },
  ]);
});

test('scores are shares, live never exceeds planned, gaps fit into what is missing', () => {
  // Goal: property over any walk of states, late looks, clocks that stand.
  const look = fc.record({
    step: fc.double({ min: 0, max: 20, noNaN: true }),
    states: fc.array(fc.nat(5), { minLength: 4, maxLength: 4 }),
    still: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
      const watch = createEnvWatch(4);
      let now = 0;
      for (const { step, states, still } of looks) {
        now += step;
        watch.look(now, Uint8Array.from(states), workerOf, still);
      }
      for (let env = 0; env < 4; env++) {
        assert.ok((watch.liveS[env] as number) <= (watch.plannedS[env] as number) + 1e-9);
        assert.ok((watch.plannedS[env] as number) <= now + 1e-9);
      }
      const gaps = watch.gaps(now);
      assert.equal(
        gaps.classes.reduce((sum, n) => sum + n, 0),
        gaps.times,
      );
      assert.ok(gaps.longest.length <= 50 && gaps.total_s <= 4 * now + 1);
      for (const { score, worst } of stabilityOf(ranges, watch.liveS, watch.plannedS)) {
        assert.ok(score === null || (score >= 0 && score <= 1 && worst !== null && worst <= score + 1e-12));
      }
    }),
  );
});

test('the slowest are measured against their own kind, and envs out of the run are not among them', () => {
  // Goal: a slow kind is not slow for being another kind.
  const before = Float64Array.of(0, 0, 1000, 0);
  const after = Float64Array.of(100, 300, 1009, Number.NaN);
  assert.deepEqual(slowestOf(ranges, before, after, 2), [
    { env_id: 0, entry: 'cart', worker: 0, frames: 100, median: 200, relative: 0.5 },
    { env_id: 2, entry: 'pole', worker: 1, frames: 9, median: 9, relative: 1 },
  ]);
  assert.deepEqual(slowestOf(ranges, new Float64Array(0), after, 20), []);
});

test('packed states unpack to what they were', () => {
  // Goal: property: run lengths of letters lose nothing.
  fc.assert(
    fc.property(fc.array(fc.nat(6), { maxLength: 300 }), (states) => {
      const packed = packStates(Uint8Array.from(states));
      assert.match(packed, /^(?:\d{1,7}[nlrsqxt])*$/);
      const letters = [...packed.matchAll(/(\d+)([a-z])/g)].map(([, count, letter]) => (letter ?? '').repeat(Number(count))).join('');
      assert.equal(letters, states.map((code) => HEALTH_STATE_LETTERS[HEALTH_STATES[code] as 'live']).join(''));
    }),
  );
});

test('restarts by cause keep their sums over days, in a bounded number of stretches', () => {
  // Goal: property over times and causes, more causes than are kept.
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ s: fc.double({ min: 0, max: 600_000, noNaN: true }), cause: fc.nat(40), times: fc.integer({ min: 1, max: 9 }) }),
        {
          maxLength: 80,
        },
      ),
      (restarts) => {
        const line = createRestartLine();
        for (const { s, cause, times } of restarts) line.add(s, `cause ${cause}`, times);
        const { bucket_s, causes } = line.record();
        const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);
        assert.equal(sum(causes.map(({ total }) => total)), sum(restarts.map(({ times }) => times)));
        assert.ok(causes.length <= 24);
        for (const { counts, total } of causes) {
          assert.ok(counts.length <= 120);
          assert.equal(sum(counts), total);
        }
        if (causes.length < 24) {
          for (const { s, cause } of restarts) {
            const counts = causes.find((found) => found.cause === `cause ${cause}`)?.counts;
            assert.ok((counts?.[Math.floor(s / bucket_s)] ?? 0) > 0);
          }
        }
      },
    ),
  );
});

test('an env keeps its first and its newest events; texts of many envs are one', () => {
  // Goal: bounded drill-down, nothing uncounted.
  const book = createEventBook();
  for (let envId = 0; envId < 3000; envId++) book.add({ runS: 1, type: 'env-failed', message: `env ${envId}: it broke`, envIds: [envId] });
  for (let n = 0; n < 20; n++) book.add({ runS: 2 + n, type: 'env-rebuilt', message: `round\u0007 ${n}`, envIds: [7], worker: 1 });
  book.add({ runS: 30, type: 'worker-died', message: 'worker 1 died', envIds: [7], worker: 1 });
  const { types, texts, envs, workers, left_out } = book.record();
  assert.equal(envs.length, 2000);
  assert.equal(left_out, 1000 + 16);
  const lines = envs.find(([id]) => id === 7)?.[1].map(([s, type, text]) => [s, types[type], texts[text]]);
  assert.deepEqual(lines, [
    [1, 'env-failed', 'this env: it broke'],
    [18, 'env-rebuilt', 'round  16'],
    [19, 'env-rebuilt', 'round  17'],
    [20, 'env-rebuilt', 'round  18'],
    [21, 'env-rebuilt', 'round  19'],
    [30, 'worker-died', 'worker 1 died'],
  ]);
  assert.deepEqual(workers, [[1, [[30, types.indexOf('worker-died'), texts.indexOf('worker 1 died')]]]]);
});

test('suspended time is summed, also of the one that goes on', () => {
  // Goal: intervals with reasons.
  const suspensions = createSuspensions();
  suspensions.look(1, null);
  suspensions.look(2, 'half of the workers are late');
  suspensions.look(4, 'half of the workers are late');
  suspensions.look(5, null);
  suspensions.look(8, 'again');
  assert.deepEqual(suspensions.record(10), {
    total_s: 5,
    times: 2,
    intervals: [
      { from_s: 2, seconds: 3, reason: 'half of the workers are late' },
      { from_s: 8, seconds: 2, reason: 'again' },
    ],
  });
});
