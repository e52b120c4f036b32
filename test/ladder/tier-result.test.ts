// Rates come from counts between two moments of the learner's clock; the balance covers the whole tier; means are the tier's own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balanceGap } from '../../harness/ladder/balance.js';
import { type TierFacts, tierResult } from '../../harness/ladder/tier-result.js';
import { snapshot } from './plan-fixture.js';

const before = snapshot({
  monotonicMs: 1000,
  published: 100,
  taken: 100,
  trained: 60,
  pending: 40,
  updates: 1,
  bytesCopied: 1000,
  batches: 10,
  batchFill: 0.5,
  kinds: { cartpole: { episodes: 2, returnSum: 20, lengthSum: 20, recentReturn: 10, recentLength: 10 } },
});
const measuredFrom = snapshot({ ...before, monotonicMs: 2000, published: 150, taken: 150, pending: 90 });
const end = snapshot({
  monotonicMs: 12_000,
  published: 1150,
  taken: 1140,
  trained: 1000,
  evaluated: 20,
  dropped: { reset: 30, abandoned: 0, quarantined: 0, unfinished: 0, 'learner-died': 0, 'bad-update': 0 },
  pending: 90,
  updates: 5,
  bytesCopied: 51_000,
  batches: 30,
  batchFill: 0.9,
  kinds: { cartpole: { episodes: 6, returnSum: 100, lengthSum: 60, recentReturn: 17, recentLength: 10 } },
  latency: { valueUs: [10, 20, 30], count: [50, 40, 10], maxUs: 31 },
});

const FACTS: TierFacts = {
  index: 1,
  tier: { envs: 10, seconds: 10, label: 'ten', slos: [] },
  before,
  measuredFrom,
  end,
  timeToFirstBatchS: 0.1,
  timeToAllLiveS: 0.2,
  live: 10,
  quarantined: 0,
  firstFailure: null,
  cutShort: null,
  failure: null,
  learner: 'ppo',
  shmBytes: 4096,
  memory: { learner: { pssBytes: 7, processes: 1 } },
  restarts: 0,
  deaths: [],
  faultsPlanned: false,
  lostRanges: 0,
  entries: { cartpole: { kind: 'cartpole', envs: 10 } },
  asked: { minStepsPerEnv: 1, minUpdates: 1, quiet: { maxStealShare: 0.5, maxForeignShare: 0.9 } },
  leastFrames: { envId: 3, frames: 90 },
  machineLoad: { steal_share: 0, foreign_share: 0.01, throttle_events: 0, frequency_ratio: 1 },
  slices: null,
  aborted: null,
};

describe('tier result', () => {
  it('takes rates from the measured time and the balance from the whole tier', () => {
    const result = tierResult(FACTS);
    assert.equal(result.seconds, 10);
    assert.equal(result.agent_steps, 1000);
    assert.equal(result.sampling_sps, 100);
    assert.equal(result.training_sps, 94);
    assert.equal(result.goodput_sps, 96);
    assert.equal(result.balance.published, 1050 + 40);
    assert.equal(result.balance.carried_in, 40);
    assert.equal(result.balance.in_flight, 100);
    assert.equal(balanceGap(result.balance), 0);
    assert.deepEqual(result.validity, { verdict: 'valid', reasons: [] });
  });

  it("reports the tier's own episodes, batches and percentiles, not the run's", () => {
    const result = tierResult(FACTS);
    assert.deepEqual(result.kinds.cartpole, { kind: 'cartpole', envs: 10, episodes: 4, return_mean: 20, length_mean: 10 });
    assert.ok(Math.abs(result.batch_fill - 1) < 1e-9, String(result.batch_fill));
    assert.deepEqual(result.step_latency_us, { p50: 10, p90: 20, p99: 30, p999: 30, max: 31 });
    assert.equal(result.bytes_copied, 50_000);
    assert.equal(result.updates, 4);
  });

  it('is recorded as incomplete, with zero rates, when it never came to its measured time', () => {
    const result = tierResult({ ...FACTS, measuredFrom: null, cutShort: 'failed', failure: 'gone' });
    assert.equal(result.complete, false);
    assert.equal(result.sampling_sps, 0);
    assert.equal(result.seconds, 0);
    assert.equal(result.validity.verdict, 'invalid');
    assert.equal(balanceGap(result.balance), 0);
  });

  it('survives a learner that never answered', () => {
    const result = tierResult({ ...FACTS, before: null, measuredFrom: null, end: null, cutShort: 'failed', failure: 'gone' });
    assert.deepEqual(result.step_latency_us, { p50: null, p90: null, p99: null, p999: null, max: null });
    assert.equal(result.balance.published, 0);
  });
});
