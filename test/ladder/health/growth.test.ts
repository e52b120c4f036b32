// Goal: growth is told from noise with an interval one may act on, in bounded memory, and a worker is replaced once, before it is too late.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ChildReport } from '../../../harness/contract/messages.js';
import { createGrowthWatch, type GrowthSeat } from '../../../harness/ladder/health/growth.js';
import { createSampleSeries, MOST_SAMPLES } from '../../../harness/ladder/health/sample-series.js';
import { robustSlope } from '../../../harness/ladder/health/slope.js';
import { type MemoryFacts, softLimitOf, softRestartReason, WARM_UP_S } from '../../../harness/ladder/health/soft-restart.js';

/** Numbers that are the same in every run: a linear congruential generator is random enough for noise. */
function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

function report(rssBytes: number, fds = 20, loopLagMsMax = 1): ChildReport {
  return { rssBytes, heapBytes: rssBytes / 2, fds, loopLagMsMax, frames: 0 };
}

const seat = (over: Partial<GrowthSeat> = {}): GrowthSeat => ({ role: 'worker', worker: 0, pid: 7, life: 0, report: report(1e8), ...over });

test('an exact line has its slope and no width, in any unit', () => {
  // Goal: property over slopes and offsets.
  fc.assert(
    fc.property(
      fc.integer({ min: -1000, max: 1000 }),
      fc.integer({ min: 0, max: 1e6 }),
      fc.integer({ min: 5, max: 400 }),
      (slope, offset, n) => {
        const found = robustSlope(Array.from({ length: n }, (_, x) => ({ x, y: offset + slope * x })));
        assert.ok(found);
        for (const value of [found.value, found.low, found.high]) assert.ok(Math.abs(value - slope) < 1e-6, `${value} for ${slope}`);
      },
    ),
  );
  assert.equal(robustSlope([1, 2, 3, 4].map((x) => ({ x, y: x }))), null);
});

test('the 95 % interval holds the true slope about that often, for flat and for rising memory', () => {
  // Goal: coverage over 400 seeds of noise with spikes; a rule on `low > 0` must not fire on flat memory more often than that.
  for (const slope of [0, 3]) {
    let covered = 0;
    let risen = 0;
    for (let seed = 1; seed <= 400; seed++) {
      const draw = noise(seed * 7919);
      const points = Array.from({ length: 200 }, (_, x) => ({ x, y: slope * x + draw() * 400 + (draw() > 0.48 ? 5000 : 0) }));
      const found = robustSlope(points);
      assert.ok(found && found.low <= found.value && found.value <= found.high);
      if (found.low <= slope && slope <= found.high) covered++;
      if (found.low > 0) risen++;
    }
    assert.ok(covered >= 360, `${covered} of 400 intervals hold ${slope}`);
    if (slope === 0) assert.ok(risen <= 20, `${risen} of 400 call flat memory rising`);
    else assert.ok(risen >= 390, `${risen} of 400 see the rise`);
  }
});

test('a series stays bounded for six days and keeps its mean, its ends and its worst lag', () => {
  // Goal: halving merges, it does not drop.
  const series = createSampleSeries();
  let rss = 0;
  const seconds = 100_000;
  for (let t = 0; t < seconds; t++) {
    rss += t;
    series.add({ t, rssBytes: t, heapBytes: 2 * t, fds: 9, lagMs: t === 77_777 ? 500 : 1 });
  }
  const samples = series.samples();
  assert.ok(samples.length <= MOST_SAMPLES + 1 && samples.length >= MOST_SAMPLES / 2);
  const weight = samples.reduce((sum, sample) => sum + sample.weight, 0);
  assert.equal(weight, seconds);
  assert.ok(Math.abs(samples.reduce((sum, sample) => sum + sample.rssBytes * sample.weight, 0) - rss) < 1e-6 * rss);
  assert.equal(Math.max(...samples.map((sample) => sample.lagMs)), 500);
  assert.ok((samples[0]?.t ?? 1e9) < 500 && (samples.at(-1)?.t ?? 0) > seconds - 500);
  samples.reduce((before, sample) => {
    assert.ok(sample.t > before.t);
    return sample;
  });
});

test('a leak is a slope with an interval above 0, warm-up growth is not, fds are flat or not', () => {
  // Goal: 10 MB in the first minute and none later is flat; 1 MB/h later is seen; a descriptor a minute is no flat line.
  const draw = noise(5);
  const watch = createGrowthWatch();
  for (let t = 0; t < 7200; t++) {
    const warm = Math.min(t, WARM_UP_S) * 1e6;
    watch.sample(t, [
      seat({ worker: 0, report: report(1e8 + warm + draw() * 2e6) }),
      seat({ worker: 1, report: report(1e8 + warm + t * 3000 + draw() * 2e6, 20 + Math.floor(t / 60)) }),
      seat({ role: 'learner', worker: null, report: report(2e8, 30 + (t % 2)) }),
    ]);
  }
  const [flat, leaking, learner] = watch.records();
  assert.ok(flat?.rss_slope_per_h && leaking?.rss_slope_per_h && learner?.rss_slope_per_h);
  assert.ok(flat.rss_slope_per_h.low <= 0 && Math.abs(flat.rss_slope_per_h.value) < 1e6, JSON.stringify(flat.rss_slope_per_h));
  assert.ok(leaking.rss_slope_per_h.low > 9e6 && leaking.rss_slope_per_h.high < 12.6e6, JSON.stringify(leaking.rss_slope_per_h));
  assert.deepEqual([flat.fds_flat, leaking.fds_flat, learner.fds_flat], [true, false, true]);
  assert.deepEqual([flat.samples, flat.lives, flat.seconds, learner.role, learner.worker], [7200, 1, 7199, 'learner', null]);
  assert.ok(flat.curve.t_s.length <= 120 && flat.curve.t_s.length === flat.curve.rss_bytes.length);
  assert.ok((flat.curve.t_s.at(-1) ?? 0) > 7180);
});

test('three minutes of which the first grew are not called growth', () => {
  // Goal: the warm-up is left out of the slope, where it would decide it.
  const draw = noise(3);
  const watch = createGrowthWatch();
  for (let t = 0; t < 3 * WARM_UP_S; t++)
    watch.sample(t, [seat({ report: report(1e8 + Math.min(t, WARM_UP_S - 5) * 1e6 + draw() * 1e6) })]);
  const slope = watch.records()[0]?.rss_slope_per_h;
  assert.ok(slope && slope.low <= 0 && slope.high >= 0, JSON.stringify(slope));
});

test('a new life begins a new series, and the last words of the old one are not counted again', () => {
  // Goal: the jump at a restart is no slope; a report object seen twice is one sample.
  const watch = createGrowthWatch();
  for (let t = 0; t < 200; t++) watch.sample(t, [seat({ report: report(9e8) })]);
  const last = report(9e8);
  watch.sample(200, [seat({ report: last })]);
  watch.sample(201, [seat({ report: last, pid: 8, life: 1 })]);
  assert.equal(watch.records()[0]?.lives, 1, 'the old report does not begin the new life');
  assert.equal(watch.memoryOf(0, 0)?.rssBytes, 9e8);
  assert.equal(watch.memoryOf(0, 1), null, 'nor is it what the new life is judged by');
  watch.sample(202, [seat({ report: report(1e8), pid: 8, life: 1 })]);
  watch.sample(203, [seat({ report: null, pid: 9, life: 2 })]);
  const [record] = watch.records();
  assert.deepEqual([record?.lives, record?.samples, record?.pid, record?.from_s, record?.rss_bytes.max], [2, 1, 8, 202, 1e8]);
  assert.equal(watch.memoryOf(3, 0), null);
});

test('a worker is replaced when sure growth meets its limit, and only then', () => {
  // Goal: the table of the decision.
  const rising = { value: 50e6, low: 40e6, high: 60e6 };
  const flat = { value: 1e6, low: -1e6, high: 3e6 };
  const facts: MemoryFacts = { rssBytes: 5e8, ageS: 300, recent: flat, whole: flat, softLimitBytes: 1e9, memoryMaxBytes: null };
  assert.equal(softRestartReason(facts), null);
  assert.equal(softRestartReason({ ...facts, rssBytes: 2e9 }), null, 'large and flat is left alone');
  assert.match(softRestartReason({ ...facts, rssBytes: 1.1e9, whole: rising }) ?? '', /over its soft limit of 1000 MB/);
  assert.match(softRestartReason({ ...facts, rssBytes: 7e8, recent: rising }) ?? '', /reaches its soft limit .* within 10 s/);
  assert.equal(softRestartReason({ ...facts, rssBytes: 5e8, recent: rising }), null, '9.0e8 in ten seconds is below it');
  assert.equal(softRestartReason({ ...facts, rssBytes: 7e8, recent: rising, ageS: 30 }), null, 'warm-up is not looked ahead');
  assert.match(softRestartReason({ ...facts, rssBytes: 1.1e9, recent: rising, ageS: 30 }) ?? '', /over its soft limit/);
  assert.equal(
    softRestartReason({ ...facts, rssBytes: 9e9, recent: rising, softLimitBytes: 0 }),
    null,
    'without any limit nothing is done',
  );
  assert.match(softRestartReason({ ...facts, rssBytes: 9e8, recent: rising, softLimitBytes: 0, memoryMaxBytes: 1e9 }) ?? '', /800 MB/);
  assert.equal(softRestartReason({ ...facts, recent: null, whole: null, rssBytes: 9e9 }), null, 'too few samples: not sure');
  assert.equal(softLimitOf({ softLimitBytes: 9e8, memoryMaxBytes: 1e9 }), 8e8);
});
