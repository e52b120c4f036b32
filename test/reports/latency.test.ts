import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergePairs, percentilesOf, sampleCount, valuesAt } from '../../harness/contract/latency.js';
import { spectrumOf, spectrumTicks } from '../../reports/stats/spectrum.js';

const histograms = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 30 })), { maxLength: 40 })
  .map((pairs) => ({ value_us: pairs.map(([value]) => value), count: pairs.map(([, count]) => count) }));

function expand(pairs: { readonly value_us: readonly number[]; readonly count: readonly number[] }): number[] {
  return pairs.value_us.flatMap((value, i) => Array<number>(pairs.count[i] ?? 0).fill(value)).sort((a, b) => a - b);
}

test('percentiles of pairs are those of the sorted samples', () => {
  // Goal: nearest rank, for any histogram, in any order, with repeats and empty buckets.
  fc.assert(
    fc.property(histograms, fc.integer({ min: 0, max: 1_000_000 }), (pairs, perMillion) => {
      const samples = expand(pairs);
      assert.equal(sampleCount(pairs), samples.length);
      // The rank in whole numbers: q = n / 1,000,000, rank = ceil(q * length), counted from 1.
      const rank = (millionths: number) => samples[Math.max(1, Math.ceil((millionths * samples.length) / 1_000_000)) - 1] ?? null;
      const found = percentilesOf(pairs);
      assert.deepEqual(found, {
        p50: rank(500_000),
        p90: rank(900_000),
        p99: rank(990_000),
        p999: rank(999_000),
        max: samples.at(-1) ?? null,
      });
      assert.deepEqual(valuesAt(pairs, [perMillion / 1_000_000]), samples.length === 0 ? [] : [rank(perMillion)]);
    }),
    { numRuns: 500 },
  );
});

test('no percentile is above the exact maximum, and merging histograms is adding samples', () => {
  // Goal: a bucket's mid-point never exceeds what was measured; tiers and workers merge without error.
  fc.assert(
    fc.property(fc.array(histograms, { maxLength: 4 }), fc.integer({ min: 0, max: 500 }), (parts, maxUs) => {
      const merged = mergePairs(parts);
      assert.deepEqual(
        expand(merged),
        parts.flatMap(expand).sort((a, b) => a - b),
      );
      const { p50, p99, max } = percentilesOf(merged, maxUs);
      if (max !== null) assert.ok(max === maxUs && (p50 ?? 0) <= maxUs && (p99 ?? 0) <= maxUs);
    }),
  );
});

test('a spectrum rises, ends where ten samples stand behind it, and has its marks inside', () => {
  // Goal: the curve shows no single outlier as a trend, and no axis mark outside the frame.
  const pairs = { value_us: [10, 20, 40, 900], count: [90_000, 9_000, 900, 100] };
  const points = spectrumOf(pairs);
  assert.ok(
    points.every((point, i) => i === 0 || (point.oneIn > (points[i - 1]?.oneIn ?? 0) && point.valueUs >= (points[i - 1]?.valueUs ?? 0))),
  );
  assert.ok(Math.abs((points.at(-1)?.oneIn ?? 0) - 10_000) < 1);
  assert.equal(points.at(-1)?.valueUs, 900);
  assert.deepEqual(
    spectrumTicks(10_000).map(([, text]) => text),
    ['50 %', '90 %', '99 %', '99.9 %', '99.99 %'],
  );
  assert.deepEqual(spectrumOf({ value_us: [], count: [] }), []);
});
