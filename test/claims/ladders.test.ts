// Goal: claims about start-up, tiers and totals run real ladders at tiny size and read sane figures out of their records.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meanLatencyMs } from '../../harness/claims/rigs/ladder-run.js';
import { start42s } from '../../harness/claims/rows/start-42s.js';
import { tier24pct } from '../../harness/claims/rows/tier-24pct.js';
import { totals } from '../../harness/claims/rows/totals.js';
import { runRow } from './run-row.js';

const WATCHDOG = { timeout: 300_000 };

test('the mean of a histogram weighs its buckets', () => {
  assert.equal(meanLatencyMs({ latency_histogram: { value_us: [1000, 4000], count: [3, 1] } }), 1.75);
  assert.throws(() => meanLatencyMs({ latency_histogram: { value_us: [], count: [] } }), /without a single step/);
});

test('groups, side by side and one after the other all bring every env up', WATCHDOG, async () => {
  const { values } = await runRow(start42s, 1);
  for (const side of ['groups', 'parallel', 'serial'])
    for (const metric of ['live-1ms', 'live-100ms', 'first-1ms', 'first-100ms'])
      assert.ok(
        values(metric, side).every((seconds) => seconds > 0 && seconds < 200),
        `${side} ${metric}`,
      );
});

test('two tiers of one kind give a latency, a cost and a rate each', WATCHDOG, async () => {
  const { values } = await runRow(tier24pct, 1);
  for (const side of ['tier-1000', 'tier-7000'])
    for (const metric of ['latency-ms', 'cost-us', 'rate']) assert.ok(values(metric, side).every((value) => value > 0));
});

test("rate times time is the total in a run of ours, and not in the account's figures", WATCHDOG, async () => {
  const { values } = await runRow(totals, 1);
  const [ours = 0] = values('over-total', 'counted');
  assert.ok(Math.abs(ours - 1) < 0.01, `${ours}`);
  assert.deepEqual(
    values('over-total', 'told').map((value) => Math.round(value)),
    [204],
  );
  assert.ok(values('busy-envs', 'counted').every((share) => share > 0 && share <= 1.001));
});
