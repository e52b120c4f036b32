import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ABANDONED, FIRST, QUARANTINED } from '../../harness/contract/frame-flags.js';
import type { EnvFailure, WorkerStart } from '../../harness/contract/messages.js';
import type { PlanInput } from '../../harness/contract/plan.js';
import { runTwinWorker, stopTwinWorkers, type TwinWorker } from '../fixtures/twin-worker.js';
import { until } from '../fixtures/until.js';
import { habits, moodOf } from '../fixtures/worker-kinds.js';

const WATCHDOG = { timeout: 20_000 };
const LOST = FIRST | ABANDONED;
const OUT = ABANDONED | QUARANTINED;
const QUICK = { envBudget: { restarts: 2 }, coolDowns: 1, coolDownSeconds: 0.05, backoff: { baseSeconds: 0.001 } };

interface Bench extends TwinWorker {
  /** [env row, flags] of every frame the reader took. */
  readonly frames: [number, number][];
  readonly failures: () => readonly EnvFailure[];
  readonly rebuilt: () => readonly number[];
  answerUntil(condition: () => boolean): Promise<void>;
}

async function raise(health: PlanInput['health'] = QUICK, over: Partial<WorkerStart> = {}, kind = 'temper'): Promise<Bench> {
  const worker = await runTwinWorker({ tiers: [4], mix: { [kind]: 1 }, health }, over);
  const frames: [number, number][] = [];
  worker.send({ type: 'grow', blocks: worker.blocks });
  return {
    ...worker,
    frames,
    failures: () => worker.heard.flatMap((message) => (message.type === 'env-failures' ? message.failures : [])),
    rebuilt: () => worker.heard.flatMap((message) => (message.type === 'env-rebuilt' ? message.envIds : [])),
    answerUntil: (condition) =>
      until(() => {
        frames.push(...worker.answer());
        return condition();
      }),
  };
}

const flagsOf = (bench: Bench, row: number): number[] => bench.frames.filter(([at]) => at === row).map(([, flags]) => flags);
const stepsOf = (bench: Bench, row: number): number => flagsOf(bench, row).length;
const boom = (): never => {
  throw new TypeError('boom');
};
/** Breaks the `nth` call from now of an operation of env 1; all calls from there on when `forEver`. */
function breakCall(operation: string, nth: number, bad: () => unknown = boom, forEver = false): void {
  let calls = 0;
  moodOf.set(`${operation} 1`, () => {
    calls++;
    return calls === nth || (forEver && calls > nth) ? bad() : undefined;
  });
}

describe('an env that fails in a worker', { timeout: 120_000 }, () => {
  beforeEach(() => {
    moodOf.clear();
    habits.length = 0;
  });
  afterEach(stopTwinWorkers);

  const CASES: readonly (readonly [string, string, () => unknown, RegExp])[] = [
    ['throws in step', 'step', boom, /env 1 \(temper\): step threw TypeError: boom/],
    ['throws in reset', 'reset', boom, /env 1 \(temper\): reset threw TypeError: boom/],
    ['returns no result', 'step', () => 7, /env 1 \(temper\), step: result is 7/],
    [
      'publishes NaN',
      'step',
      () => ({ reward: 1, terminated: false, truncated: false, obs: { vector: new Float32Array([0, Number.NaN]) } }),
      /env 1 \(temper\), step: vector\[1\] is NaN, must be a finite number/,
    ],
  ];
  for (const [what, operation, bad, says] of CASES) {
    it(
      `${what}: is closed, built anew and steps on; its faulty frame is never published, its neighbours lose nothing`,
      WATCHDOG,
      async () => {
        // Goal: one failure costs one trajectory of one env.
        breakCall(operation, operation === 'reset' ? 1 : 3, bad);
        const bench = await raise();
        await bench.answerUntil(
          () => bench.rebuilt().length === 1 && stepsOf(bench, 1) > 12 && [0, 2, 3].every((row) => stepsOf(bench, row) > 12),
        );
        const [failure, ...others] = bench.failures();
        assert.deepEqual([failure?.envId, failure?.fate, failure?.operation, others.length], [1, 'rebuild', operation, 0]);
        assert.match(failure?.message ?? '', says);
        assert.deepEqual(bench.rebuilt(), [1]);
        const own = habits.filter((habit) => habit.endsWith(' 1') && !habit.startsWith('step'));
        assert.deepEqual(own, ['construct 1', 'reset 1', 'close 1', 'construct 1', 'reset 1']);
        const flags = flagsOf(bench, 1);
        // Before its first frame an env has no trajectory to lose.
        assert.deepEqual(flags.slice(0, 4), operation === 'reset' ? [FIRST, 0, 0, 0] : [FIRST, 0, 0, LOST]);
        assert.ok(flags.slice(4).every((flag) => flag === 0));
        for (const row of [0, 2, 3]) assert.ok(flagsOf(bench, row).every((flag, i) => flag === (i === 0 ? FIRST : 0)));
      },
    );
  }

  it('and fails for ever: is rebuilt, cools down, and is out; every failure is in the error table', WATCHDOG, async () => {
    // Goal: an env has its budget, then a pause, then an end.
    breakCall('step', 2, boom, true);
    const bench = await raise();
    await bench.answerUntil(() => flagsOf(bench, 1).includes(OUT) && bench.failures().length === 4);
    assert.deepEqual(
      bench.failures().map(({ fate }) => fate),
      ['rebuild', 'rebuild', 'cool-down', 'quarantine'],
    );
    assert.equal(flagsOf(bench, 1).at(-1), OUT);
    await bench.answerUntil(() => habits.filter((habit) => habit === 'close 1').length === 4);
    const { cells } = bench.errors.read(0);
    assert.equal(cells.length, 1);
    assert.deepEqual([cells[0]?.count, cells[0]?.envIds, cells[0]?.exemplar.entry], [4, [1], 'temper']);
    assert.match(cells[0]?.exemplar.stack ?? '', /TypeError: boom\n.*at boom/);
    const before = stepsOf(bench, 0);
    await bench.answerUntil(() => stepsOf(bench, 0) > before + 20);
    assert.equal(flagsOf(bench, 1).at(-1), OUT, 'nothing comes after the last frame');
  });

  it('in its constructor: is tried again within its budget, then out at once', WATCHDOG, async () => {
    // Goal: a broken asset does not cool down.
    breakCall('construct', 1, boom, true);
    const bench = await raise();
    await bench.answerUntil(() => flagsOf(bench, 1).length === 1 && bench.failures().length === 3);
    assert.deepEqual(
      bench.failures().map(({ fate, operation }) => [fate, operation]),
      [
        ['rebuild', 'construct'],
        ['rebuild', 'construct'],
        ['quarantine', 'construct'],
      ],
    );
    assert.deepEqual(flagsOf(bench, 1), [OUT]);
    assert.ok(!habits.includes('close 1'), 'what was never built is never closed');
  });

  it('in its constructor once: joins the others late', WATCHDOG, async () => {
    // Goal: a start that fails once costs a moment.
    breakCall('construct', 1);
    const bench = await raise();
    await bench.answerUntil(() => stepsOf(bench, 1) > 5);
    assert.deepEqual(bench.rebuilt(), [1]);
    assert.equal(flagsOf(bench, 1)[0], FIRST);
  });

  it('whose kind is not to be rebuilt: is out at once', WATCHDOG, async () => {
    // Goal: a kind that leaves things behind says so and is believed.
    breakCall('step', 3);
    const bench = await raise(QUICK, {}, 'messy');
    await bench.answerUntil(() => bench.failures().length === 1 && flagsOf(bench, 1).includes(OUT));
    assert.equal(bench.failures()[0]?.fate, 'quarantine');
    await bench.answerUntil(() => habits.includes('close 1'));
  });

  it('whose close throws, or never ends, is built anew all the same', WATCHDOG, async () => {
    // Goal: a bad close is bounded by its deadline and costs nobody else anything.
    const closes = [boom, () => new Promise<void>(() => undefined)];
    moodOf.set('close 1', () => closes.shift()?.());
    let fails = 2;
    moodOf.set('step 1', () => (habits.filter((habit) => habit === 'step 1').length % 3 === 0 && fails-- > 0 ? boom() : undefined));
    const bench = await raise({ ...QUICK, deadlines: { close: 0.2 } });
    await bench.answerUntil(() => bench.failures().length === 2 && stepsOf(bench, 1) > 10);
    assert.deepEqual(bench.rebuilt().at(-1), 1);
    const closeErrors = bench.errors.read(0).cells.filter(({ exemplar }) => exemplar.operation === 'close');
    assert.deepEqual(closeErrors.map(({ exemplar }) => exemplar.message).sort(), [
      'EnvladderError: did not finish within 0.2 s, its deadline',
      'TypeError: boom',
    ]);
  });

  it('and takes long to construct: the loop steps the others meanwhile', WATCHDOG, async () => {
    // Goal: an async constructor on the way back holds nobody.
    let built: () => void = () => undefined;
    let constructs = 0;
    moodOf.set('construct 1', () => (++constructs === 2 ? new Promise<void>((done) => (built = done)) : undefined));
    breakCall('step', 3);
    const bench = await raise();
    await bench.answerUntil(() => constructs === 2);
    assert.equal(bench.control.progress(0).op, 'idle', 'nobody is blamed for waiting');
    const before = stepsOf(bench, 0);
    await bench.answerUntil(() => stepsOf(bench, 0) > before + 50);
    assert.equal(stepsOf(bench, 1), 3);
    built();
    await bench.answerUntil(() => stepsOf(bench, 1) > 6);
  });

  it('had failed in an earlier life of its worker: goes on with what is left of its budget', WATCHDOG, async () => {
    // Goal: a restart of the worker is no new budget.
    breakCall('step', 3);
    const nowMs = Number(process.hrtime.bigint()) / 1e6;
    const bench = await raise(QUICK, { epoch: 1, failed: [[1, [nowMs - 2000, nowMs - 1000]]] });
    await bench.answerUntil(() => bench.failures().length === 1);
    assert.equal(bench.failures()[0]?.fate, 'cool-down');
    await bench.answerUntil(() => bench.rebuilt().includes(1));
  });

  it('was cooling down when its worker died: is built when its time has come, not before', WATCHDOG, async () => {
    // Goal: a restart of the worker does not shorten a cool-down.
    const nowMs = Number(process.hrtime.bigint()) / 1e6;
    const failed = [nowMs - 300, nowMs - 200, nowMs - 100];
    const bench = await raise({ ...QUICK, coolDownSeconds: 1 }, { epoch: 1, failed: [[1, failed]] });
    await bench.answerUntil(() => stepsOf(bench, 0) > 20);
    assert.ok(!habits.includes('construct 1'));
    await bench.answerUntil(() => stepsOf(bench, 1) > 3);
    assert.ok(Number(process.hrtime.bigint()) / 1e6 >= nowMs + 900);
  });

  it('is not one, but shares the start of all: a flood of failures is rebuilt in turns, bounded-parallel', WATCHDOG, async () => {
    // Goal: never more than constructParallel constructors on the way back.
    let inFlight = 0;
    let most = 0;
    const worker = await runTwinWorker({ tiers: [40], mix: { temper: 1 }, health: QUICK }, { constructParallel: 3 });
    for (let envId = 0; envId < 40; envId++) {
      let steps = 0;
      moodOf.set(`step ${envId}`, () => (++steps === 2 ? boom() : undefined));
      let builds = 0;
      moodOf.set(`construct ${envId}`, () => {
        if (++builds === 1) return undefined;
        most = Math.max(most, ++inFlight);
        return new Promise<void>((done) => setImmediate(() => done(void inFlight--)));
      });
    }
    worker.send({ type: 'grow', blocks: worker.blocks });
    const back = (): number => worker.heard.flatMap((message) => (message.type === 'env-rebuilt' ? message.envIds : [])).length;
    await until(() => {
      worker.answer();
      return back() === 40;
    });
    assert.ok(most <= 3, `${most} at once`);
  });
});

describe('orders for one env', { timeout: 120_000 }, () => {
  beforeEach(() => {
    moodOf.clear();
    habits.length = 0;
  });
  afterEach(stopTwinWorkers);
  const answers = (bench: Bench): unknown[] =>
    bench.heard.flatMap((message) => (message.type === 'env-changed' ? [[message.envId, message.now]] : []));

  it('quarantine takes a healthy env out with a last frame, and closes it; release builds it anew', WATCHDOG, async () => {
    // Goal: a person can take an env out and put it back.
    const bench = await raise();
    await bench.answerUntil(() => stepsOf(bench, 1) > 5);
    bench.send({ type: 'quarantine', envId: 1, reason: 'looks odd' });
    await bench.answerUntil(() => flagsOf(bench, 1).at(-1) === OUT && habits.includes('close 1'));
    const before = stepsOf(bench, 1);
    bench.send({ type: 'release', envId: 1 });
    await bench.answerUntil(() => bench.rebuilt().includes(1));
    assert.equal(stepsOf(bench, 1), before, 'no frame before the reader has released the row');
    bench.reader.release(1);
    await bench.answerUntil(() => stepsOf(bench, 1) > before + 5);
    assert.equal(flagsOf(bench, 1)[before], LOST);
    assert.deepEqual(answers(bench), [
      [1, 'quarantined'],
      [1, 'released'],
    ]);
    assert.equal(bench.failures().length, 0);
  });

  it('release ends a cool-down at once and forgets the failures', WATCHDOG, async () => {
    // Goal: a person who mended something need not wait.
    let calls = 0;
    moodOf.set('step 1', () => (++calls % 2 === 0 && calls <= 12 ? boom() : undefined));
    const bench = await raise({ ...QUICK, coolDownSeconds: 3600 });
    const cooled = (): number => bench.failures().filter(({ fate }) => fate === 'cool-down').length;
    await bench.answerUntil(() => cooled() === 1);
    bench.send({ type: 'release', envId: 1 });
    await bench.answerUntil(() => cooled() === 2);
    assert.deepEqual(
      bench.failures().map(({ fate }) => fate),
      ['rebuild', 'rebuild', 'cool-down', 'rebuild', 'rebuild', 'cool-down'],
    );
  });

  it('release brings back an env that an earlier life had lost', WATCHDOG, async () => {
    // Goal: barred and retired envs are not lost for ever.
    const bench = await raise(QUICK, { epoch: 1, retired: [1] });
    await bench.answerUntil(() => stepsOf(bench, 0) > 5 && flagsOf(bench, 1).at(-1) === OUT);
    bench.send({ type: 'release', envId: 1 });
    bench.reader.release(1);
    await bench.answerUntil(() => stepsOf(bench, 1) > 5);
    assert.ok(habits.includes('construct 1'));
  });

  it('quarantine of an env still under construction keeps it out, and closes what comes of it', WATCHDOG, async () => {
    // Goal: an order overtakes a constructor.
    let built: () => void = () => undefined;
    moodOf.set('construct 1', () => new Promise<void>((done) => (built = done)));
    const bench = await raise();
    await bench.answerUntil(() => stepsOf(bench, 0) > 5);
    bench.send({ type: 'quarantine', envId: 1, reason: 'takes too long' });
    await bench.answerUntil(() => flagsOf(bench, 1).length === 1);
    built();
    await bench.answerUntil(() => habits.includes('close 1'));
    assert.deepEqual(flagsOf(bench, 1), [OUT]);
  });

  it('for an env of somebody else are answered, not obeyed', WATCHDOG, async () => {
    // Goal: a wrong id is said, whatever it is.
    const bench = await raise();
    for (const envId of [4, 1_000_000]) {
      bench.send({ type: 'quarantine', envId, reason: 'x' });
      bench.send({ type: 'release', envId });
    }
    await bench.answerUntil(() => answers(bench).length === 4);
    assert.ok(answers(bench).every((answer) => (answer as unknown[])[1] === 'unknown-env'));
  });
});
