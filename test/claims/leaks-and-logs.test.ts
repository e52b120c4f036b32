// Goal: the claims about leaked memory, about the error ring and about sleeping groups break real things, and count what is left of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorStream, FREQUENT_KINDS, FREQUENT_SHARE, OTHER_KINDS } from '../../harness/claims/rigs/error-stream.js';
import { dormant1pct } from '../../harness/claims/rows/dormant-1pct.js';
import { idleSegments, ipcsCron } from '../../harness/claims/rows/ipcs-cron.js';
import { ring87mb } from '../../harness/claims/rows/ring-87mb.js';
import { fingerprintOf } from '../../harness/memory/error-fingerprint.js';
import { runRow } from './run-row.js';

const WATCHDOG = { timeout: 300_000 };

test('the cleaner with ipcs leaves every POSIX segment of the dead and takes the System V ones', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(ipcsCron);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  // 2 killed processes with 8 segments each.
  assert.deepEqual(values('left', 'ipcs-cron'), [16, 16]);
  assert.deepEqual(values('left-mb', 'ipcs-cron'), [16 * 0.065536, 16 * 0.065536]);
  assert.deepEqual(values('sysv-left', 'ipcs-cron'), [0, 0]);
  for (const side of ['memfd', 'proven-dead']) assert.deepEqual(values('left', side), [0, 0], side);
  for (const side of ['ipcs-cron', 'memfd', 'proven-dead']) assert.deepEqual(values('live-lost', side), [0, 0], side);
});

test('only segments without attachments are read out of what ipcs prints', () => {
  const printed = `
------ Shared Memory Segments --------
key        shmid      owner      perms      bytes      nattch     status
0x00000000 7          root       600        4096       0
0x9b1e4fe6 12         root       644        4096       2
0x9b1e4fe7 13         root       644        4096       0          dest
`;
  assert.deepEqual(idleSegments(printed), ['7', '13']);
  assert.deepEqual(idleSegments(''), []);
});

test('the stream of errors is the same for a seed, and has the kinds and shares it says', () => {
  const take = (seed: number, count: number): string[] => {
    const next = errorStream(seed);
    return Array.from({ length: count }, () => fingerprintOf(next()));
  };
  assert.deepEqual(take(3, 50), take(3, 50));
  assert.notDeepEqual(take(3, 50), take(4, 50));
  const counts = new Map<string, number>();
  for (const name of take(1, 20_000)) counts.set(name, (counts.get(name) ?? 0) + 1);
  assert.equal(counts.size, FREQUENT_KINDS + OTHER_KINDS);
  const frequent = [...counts.values()].sort((a, b) => b - a).slice(0, FREQUENT_KINDS);
  const share = frequent.reduce((sum, count) => sum + count, 0) / 20_000;
  assert.ok(Math.abs(share - FREQUENT_SHARE) < 0.02, `${share}`);
});

test("a ring in the worker loses the minute in which it is killed; the supervisor's tables and a log do not", WATCHDOG, async () => {
  const { values } = await runRow(ring87mb);
  assert.deepEqual(values('last-minute-known', 'ring'), [0, 0]);
  assert.deepEqual(values('explained-share', 'ring'), [0, 0]);
  for (const side of ['tables', 'file-log']) {
    assert.deepEqual(values('last-minute-known', side), [1, 1], side);
    assert.deepEqual(values('known-share', side), [1, 1], side);
    assert.deepEqual(values('explained-share', side), [1, 1], side);
  }
  // The same errors on both sides: 24 bytes each against some hundred.
  const [inRing, inLog] = [values('mb-per-million', 'ring'), values('mb-per-million', 'file-log')];
  assert.ok(inRing.every((mb, i) => mb > 10 && mb < (inLog[i] as number) / 10));
});

test('a group sleeps under its quota and frozen, wakes in both, and the memory limit counts what is shared', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(dormant1pct, 1);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  for (const side of ['quota', 'frozen', 'not-started'])
    assert.ok(
      values('wake-ms', side).every((ms) => ms > 0),
      side,
    );
  // The kernel's periods are 100 ms, the sleep is 200: a fraction more than 1 % may fall into it.
  assert.ok(values('cpu-percent', 'quota').every((percent) => percent >= 0 && percent < 10));
  assert.deepEqual(values('cpu-percent', 'frozen'), [0]);
  for (const side of ['quota', 'frozen']) {
    assert.ok(
      values('kept-mb', side).every((mb) => mb > 10),
      side,
    );
    assert.deepEqual(values('killed-own', side), [0], side);
    assert.ok(
      values('charged-share', side).every((share) => share > 0.9),
      side,
    );
  }
  assert.deepEqual(values('killed-beyond', 'quota'), [1]);
  assert.deepEqual(values('killed-beyond', 'frozen'), [0]);
});
