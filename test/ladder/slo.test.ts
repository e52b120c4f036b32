// Goal: an objective means exactly what it says: read as written or refused with what to write, judged on the tier's own histogram and
// counts, neither met nor missed where nothing was measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mergePairs, percentilesOf } from '../../harness/contract/latency.js';
import type { SloResult, TierResult } from '../../harness/contract/run-record.js';
import { keeps, parseAfter, parseSlo, SLO_OPS, type SloRule } from '../../harness/contract/slo.js';
import { isMetric, knownMetrics, type Measured, metricValue } from '../../harness/contract/slo-metrics.js';
import { headlineOf, judgeSlo, sloVerdictOf, tierHolds } from '../../harness/contract/slo-verdict.js';

const HISTOGRAM = { value_us: [10, 20, 30, 1000], count: [900, 80, 15, 5] };

const TIER: Measured = {
  envs: 1000,
  envs_live: 999,
  seconds: 36,
  time_to_first_batch_s: 0.5,
  time_to_all_live_s: null,
  agent_steps: 1000,
  sampling_sps: 5000,
  training_sps: 4000,
  goodput_sps: 4500,
  step_latency_us: percentilesOf(HISTOGRAM, 990),
  latency_histogram: HISTOGRAM,
  rate: null,
  batch_fill: 0.9,
  updates: 3,
  shm_bytes: 4096,
  memory: { learner: { pss_bytes: 77, processes: 1 } },
  restarts: 2,
  kinds: { 'my.kind': { kind: 'cartpole', envs: 1000, episodes: 9, return_mean: 120, length_mean: null } },
  bytes_copied: 64,
};

function rule(text: string): SloRule {
  const parsed = parseSlo(text);
  assert.ok(parsed.ok, text);
  return parsed.value;
}

function problem(text: string): string {
  const parsed = parseSlo(text);
  assert.ok(!parsed.ok, `${text} was taken`);
  return parsed.problem;
}

describe('the text of an objective', () => {
  it('is read back as metric, comparison and limit, whatever the blanks', () => {
    const blank = fc.constantFrom('', ' ', '  ', '\t');
    const metric = fc.constantFrom(...knownMetrics(['cartpole', 'my.kind']));
    const limit = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(metric, fc.constantFrom(...SLO_OPS), limit, blank, blank, blank, (name, op, value, a, b, c) => {
        const { slo, ...parts } = rule(`${a}${name}${b}${op}${c}${value}${a}`);
        assert.deepEqual(parts, { metric: name, op, limit: Number(String(value)) });
        assert.deepEqual(rule(slo), { slo, ...parts });
      }),
    );
  });

  it('never throws, and refuses with one line that says what to write', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseSlo(text);
        if (parsed.ok) return;
        assert.match(parsed.problem, /METRIC OP LIMIT|use one of|bare number/);
      }),
    );
  });

  it('refuses what is no comparison, no metric, no number, or carries a unit', () => {
    assert.match(problem('p99 is low'), /found 'p99 is low'; write METRIC OP LIMIT/);
    assert.match(problem('goodput_sps = 5'), /^'=' does not compare; use one of < <= > >=$/);
    assert.match(problem('goodput_sps => 5'), /'=>' does not compare/);
    assert.match(problem('> 5'), /metric is missing/);
    assert.match(problem('goodput_sps >'), /limit is missing/);
    assert.match(problem('goodput_sps > fast'), /must be a number, found 'fast'/);
    assert.match(problem('goodput_sps > 5 > 3'), /must be a number, found '5 > 3'/);
    assert.match(problem('step_latency_us.p99 < 30ms'), /'30ms' must be a bare number: the metric's name says its unit/);
    assert.match(problem('goodput_sps > Infinity'), /must be a number/);
    assert.match(problem('goodput_sps > 1e999'), /must be a number, found '1e999'/);
    assert.match(problem('goodput_sps > 0x10'), /must be a bare number/);
    assert.equal(rule('goodput_sps > 30_000').limit, 30_000);
  });

  it('takes a time as seconds or with its unit, and nothing else', () => {
    for (const [text, seconds] of [
      ['30s', 30],
      ['500ms', 0.5],
      ['2m', 120],
      ['2 min', 120],
      ['1.5h', 5400],
      ['0', 0],
      [12, 12],
    ] as const)
      assert.deepEqual(parseAfter(text), { ok: true, value: seconds });
    for (const text of ['', 'soon', '-3s', '3 days', '1e3', '3s4']) assert.equal(parseAfter(text).ok, false, text);
  });
});

describe('a metric', () => {
  it('is read off the tier; a percentile is one of its own histogram and never above its maximum', () => {
    assert.equal(metricValue(TIER, 'step_latency_us.p50'), 10);
    assert.equal(metricValue(TIER, 'step_latency_us.p95'), 20);
    assert.equal(metricValue(TIER, 'step_latency_us.p99'), 30);
    assert.equal(metricValue(TIER, 'step_latency_us.p999'), 990);
    assert.equal(metricValue(TIER, 'step_latency_us.max'), 990);
    assert.deepEqual(
      [metricValue(TIER, 'response_latency_us.p99'), metricValue(TIER, 'rate.steps_per_env_s')],
      [null, null],
      'no rate was set',
    );
    const paced: Measured = {
      ...TIER,
      rate: {
        planned_steps_per_env_s: 50,
        steps_per_env_s: 49,
        response_latency_us: { ...percentilesOf({ value_us: [5, 7000], count: [90, 10] }, 8000) },
        response_histogram: { value_us: [5, 7000], count: [90, 10] },
        schedule_lag_us: percentilesOf({ value_us: [3], count: [9] }),
      },
    };
    assert.deepEqual(
      ['response_latency_us.p50', 'response_latency_us.p95', 'response_latency_us.max', 'rate.steps_per_env_s', 'schedule_lag_us.p99'].map(
        (name) => metricValue(paced, name),
      ),
      [5, 7000, 8000, 49, 3],
    );
    assert.equal(metricValue(TIER, 'memory.learner.pss_bytes'), 77);
    assert.equal(metricValue(TIER, 'kinds.my.kind.return_mean'), 120);
    // 2 restarts in 1,000 envs x 0.01 h = 10 env-hours.
    assert.equal(metricValue(TIER, 'restarts.rate_per_1000_env_h'), 200);
  });

  it('of merged histograms is that of all samples together, not a mean of percentiles', () => {
    const merged = mergePairs([HISTOGRAM, { value_us: [5000], count: [50] }]);
    const both = { value_us: [...merged.value_us], count: [...merged.count] };
    const tier: Measured = { ...TIER, latency_histogram: both, step_latency_us: percentilesOf(both) };
    // Rank 998 of 1,050 samples; the mean of both p95s would be 2,510.
    assert.equal(metricValue(tier, 'step_latency_us.p95'), 1000);
    assert.equal(metricValue(tier, 'step_latency_us.p99'), 5000);
  });

  it('is null, not zero, where nothing was measured', () => {
    const none: Measured = {
      ...TIER,
      seconds: 0,
      latency_histogram: { value_us: [], count: [] },
      step_latency_us: percentilesOf({ value_us: [], count: [] }),
    };
    for (const metric of [
      'goodput_sps',
      'updates',
      'step_latency_us.p99',
      'step_latency_us.max',
      'restarts.rate_per_1000_env_h',
      'kinds.my.kind.episodes',
    ])
      assert.equal(metricValue(none, metric), null, metric);
    for (const metric of ['time_to_all_live_s', 'memory.worker.pss_bytes', 'kinds.my.kind.length_mean', 'kinds.other.episodes'])
      assert.equal(metricValue(TIER, metric), null, metric);
  });

  it('has a name that the plan can check: all known ones are metrics, of the mix only, and no name of an object is', () => {
    for (const metric of knownMetrics(['a'])) assert.ok(isMetric(metric, ['a']), metric);
    assert.ok(isMetric('step_latency_us.p9999', []));
    for (const metric of [
      'step_latency_us.p5',
      'step_latency_us.mean',
      'kinds.b.episodes',
      'kinds.a.envs',
      'toString',
      'constructor',
      'kinds.toString.episodes',
    ])
      assert.ok(!isMetric(metric, ['a']), metric);
    assert.equal(metricValue(TIER, 'toString'), null);
    assert.equal(metricValue(TIER, 'kinds.constructor.name'), null);
  });
});

describe('the verdict of an objective', () => {
  it('is met on one side of its limit only, and the limit itself belongs to <= and >=', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom(-1, 0, 1), (value, apart) => {
        const limit = value + apart;
        const is = (op: SloRule['op']): boolean => keeps({ op, limit }, value);
        assert.equal(is('<'), !is('>='));
        assert.equal(is('>'), !is('<='));
        assert.equal(is('<=') && is('>='), value === limit);
        assert.ok(!(is('<') && is('>')));
      }),
    );
  });

  it('keeps the value beside the limit, and is neither when there is none', () => {
    assert.deepEqual(judgeSlo(rule('goodput_sps > 5_000'), TIER), {
      slo: 'goodput_sps > 5_000',
      metric: 'goodput_sps',
      op: '>',
      limit: 5000,
      value: 4500,
      verdict: 'missed',
      aborted: false,
    });
    const unmeasured = judgeSlo(rule('time_to_all_live_s < 9'), TIER);
    assert.equal(unmeasured.verdict, 'not-measured');
    assert.equal(unmeasured.value, null);
  });
});

describe('the headline', () => {
  type Judged = Pick<TierResult, 'tier' | 'envs' | 'validity' | 'slos'>;
  const slo = (verdict: SloResult['verdict']): SloResult => ({ ...judgeSlo(rule('goodput_sps > 1'), TIER), verdict });
  const tierOf = (tier: number, verdict: 'valid' | 'invalid', ...slos: SloResult['verdict'][]): Judged => ({
    tier,
    envs: (tier + 1) * 1000,
    validity: { verdict, reasons: [] },
    slos: slos.map(slo),
  });

  it('is the highest tier that is valid with every objective met, in any order', () => {
    const tiers = [
      tierOf(0, 'valid'),
      tierOf(4, 'valid', 'met', 'met'),
      tierOf(5, 'invalid', 'met'),
      tierOf(6, 'valid', 'met', 'missed'),
      tierOf(7, 'valid', 'not-measured'),
    ];
    for (const order of [tiers, [...tiers].reverse()]) assert.deepEqual(headlineOf(order), { text: 'holds 5,000', tier: 4, envs: 5000 });
  });

  it('says so when no tier holds, or none ran', () => {
    assert.deepEqual(headlineOf([tierOf(0, 'invalid')]), { text: 'holds none', tier: null, envs: 0 });
    assert.deepEqual(headlineOf([]), { text: 'holds none', tier: null, envs: 0 });
  });

  it('never names a tier that does not hold, and none above it holds', () => {
    const verdict = fc.constantFrom<SloResult['verdict']>('met', 'missed', 'not-measured');
    const tiers = fc.array(fc.tuple(fc.constantFrom<'valid' | 'invalid'>('valid', 'invalid'), fc.array(verdict, { maxLength: 3 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(tiers, (drawn) => {
        const judged = drawn.map(([valid, slos], tier) => tierOf(tier, valid, ...slos));
        const { tier, envs } = headlineOf(judged);
        for (const each of judged) assert.ok(each.tier === tier ? tierHolds(each) : each.envs <= envs || !tierHolds(each));
      }),
    );
  });

  it('over the run one missed objective outweighs all, one not measured all that were met', () => {
    assert.equal(sloVerdictOf([tierOf(0, 'valid')]), 'none');
    assert.equal(sloVerdictOf([tierOf(0, 'valid', 'met'), tierOf(1, 'valid')]), 'met');
    assert.equal(sloVerdictOf([tierOf(0, 'valid', 'not-measured'), tierOf(1, 'valid', 'met')]), 'not-measured');
    assert.equal(sloVerdictOf([tierOf(0, 'valid', 'not-measured'), tierOf(1, 'valid', 'missed', 'met')]), 'missed');
  });
});
