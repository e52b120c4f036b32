import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatBytes,
  formatCount,
  formatInstant,
  formatMicros,
  formatRate,
  formatReturn,
  formatSeconds,
  formatShort,
  MISSING,
  oneLine,
} from '../../reports/quantity.js';
import { byteTicks, formatTimeTick, linearTicks, logTicks, spacedIndices, timeTicks } from '../../reports/stats/ticks.js';

test('quantities have separators, fitting units and sensible figures', () => {
  // Goal: figures that a person compares at a glance; the edges between units do not print 1,000 of the smaller one.
  assert.deepEqual([0, 999, 1_234_567, null, Number.NaN].map(formatCount), ['0', '999', '1,234,567', MISSING, MISSING]);
  assert.deepEqual([0, 12.34, 99.96, 71_904.4].map(formatRate), ['0', '12.3', '100.0', '71,904']);
  assert.deepEqual([0.4, 8.123, 812.4, 999.6, 1_250, 99_960, 3_100_000, null].map(formatMicros), [
    '0.40 µs',
    '8.12 µs',
    '812 µs',
    '1.00 ms',
    '1.25 ms',
    '100.0 ms',
    '3.10 s',
    MISSING,
  ]);
  assert.deepEqual([0, 0.42, 0.9996, 20, 99.96, 725, 11_520, 518_400].map(formatSeconds), [
    '0.0 s',
    '420 ms',
    '1.0 s',
    '20.0 s',
    '100 s',
    '12 min 05 s',
    '3 h 12 min',
    '6 d 0 h',
  ]);
  assert.deepEqual([512, 2_048, 1_048_000, 416_284_672, 2 ** 33].map(formatBytes), [
    '512 B',
    '2.00 KiB',
    '1.00 MiB',
    '397 MiB',
    '8.00 GiB',
  ]);
  assert.deepEqual([1.864, -1_043.4, 366.47].map(formatReturn), ['1.86', '-1,043', '366.5']);
  assert.deepEqual([500, 80_000, 1_500_000].map(formatShort), ['500', '80k', '1.5M']);
  assert.equal(formatInstant('2026-11-30T04:55:12.000Z'), '2026-11-30 04:55:12 UTC');
});

test('text from outside becomes one visible line of bounded length', () => {
  // Goal: no terminal escape, line break or direction override of a message reaches a terminal or page.
  assert.equal(oneLine('a\n\tb\u001b[31mc\u202ed'), 'a b\uFFFD[31mc\uFFFDd');
  assert.equal(oneLine('abcdef', 4), 'abc…');
});

test('axis marks enclose what is drawn and do not crowd', () => {
  // Goal: every value has a place on its axis, whatever its size.
  fc.assert(
    fc.property(fc.double({ min: 1e-3, max: 1e12, noNaN: true }), (high) => {
      const ticks = linearTicks(high);
      assert.ok((ticks.at(-1) ?? 0) >= high * 0.998 && ticks.length >= 2 && ticks.length <= 8, `${high}: ${ticks.join()}`);
      assert.ok((byteTicks(high).at(-1) ?? 0) >= high * 0.998);
      const times = timeTicks(Math.min(high, 2_678_400));
      assert.ok(times.length >= 1 && times.length <= 7 && times[0] === 0, `${high}: ${times.join()}`);
    }),
  );
  assert.deepEqual(logTicks(5, 120), [5, 10, 20, 50, 100]);
  assert.deepEqual(logTicks(8, 3_000).slice(0, 3), [10, 30, 100]);
  assert.deepEqual(timeTicks(88), [0, 20, 40, 60, 80]);
  assert.deepEqual([0, 0.05, 45, 120, 5_400, 172_800].map(formatTimeTick), ['0', '50 ms', '45 s', '2 min', '1 h 30', '2 d']);
  assert.deepEqual(spacedIndices([0, 10, 50, 95, 100], 40), [1, 2, 4]);
});
