// Goal: what others took of the CPUs is counted by difference, our own processes are never counted as others, and a noisy machine is a
// warning before it is a reason.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { planSchema } from '../../harness/contract/plan.js';
import { judgeLoad, type LoadReading, machineLoadBetween } from '../../harness/ladder/machine-load.js';
import { parseCpuList, readLoad } from '../../harness/ladder/machine-load-probe.js';

const ZERO: LoadReading = { totalTicks: 0, busyTicks: 0, stealTicks: 0, ownTicks: 0, throttleEvents: null, meanMhz: null };
const QUIET = planSchema.parse({ tiers: [1] }).quiet;

describe('machine load', () => {
  it('is the difference of two readings, as shares of all CPU time', () => {
    const from: LoadReading = { totalTicks: 1000, busyTicks: 600, stealTicks: 10, ownTicks: 200, throttleEvents: 3, meanMhz: 2000 };
    const to: LoadReading = { totalTicks: 2000, busyTicks: 1400, stealTicks: 40, ownTicks: 900, throttleEvents: 5, meanMhz: 1500 };
    assert.deepEqual(machineLoadBetween(from, to), { steal_share: 0.03, foreign_share: 0.1, throttle_events: 2, frequency_ratio: 0.75 });
  });

  it('says nothing when it could not be read, or over too short a time', () => {
    assert.equal(machineLoadBetween(null, ZERO), null);
    assert.equal(machineLoadBetween(ZERO, null), null);
    assert.equal(machineLoadBetween(ZERO, { ...ZERO, totalTicks: 3, stealTicks: 3 }), null);
    assert.deepEqual(judgeLoad(null, QUIET, 10), { reasons: [], warnings: [] });
  });

  it('stays a share, whatever the counters do', () => {
    const reading = fc.record({ totalTicks: fc.nat(), busyTicks: fc.nat(), stealTicks: fc.nat(), ownTicks: fc.nat() });
    fc.assert(
      fc.property(reading, reading, (a, b) => {
        const load = machineLoadBetween({ ...ZERO, ...a }, { ...ZERO, ...b });
        for (const share of [load?.steal_share ?? 0, load?.foreign_share ?? 0]) assert.ok(share >= 0 && share <= 1, String(share));
      }),
    );
  });

  it('warns of a noisy machine, and is a reason only beyond the limit of the plan; never both', () => {
    const load = (steal: number, foreign: number) => ({
      steal_share: steal,
      foreign_share: foreign,
      throttle_events: null,
      frequency_ratio: null,
    });
    const codes = (steal: number, foreign: number, quiet = QUIET) => {
      const { reasons, warnings } = judgeLoad(load(steal, foreign), quiet, 1000);
      return [reasons.map(({ code }) => code), warnings.map(({ code }) => code)];
    };
    assert.deepEqual(codes(0.01, 0.04), [[], []]);
    assert.deepEqual(codes(0.03, 0.06), [[], ['steal', 'foreign-load']]);
    assert.deepEqual(codes(0.6, 0.97), [['steal', 'foreign-load'], []]);
    assert.deepEqual(codes(0.03, 0.06, { maxStealShare: 0.02, maxForeignShare: 0.05 }), [['steal', 'foreign-load'], []]);
    assert.deepEqual(codes(0, 0, { maxStealShare: 0, maxForeignShare: 0 }), [[], []]);
  });

  it('warns of throttled cores and of a frequency that fell', () => {
    const { reasons, warnings } = judgeLoad({ steal_share: 0, foreign_share: 0, throttle_events: 2, frequency_ratio: 0.7 }, QUIET, 10);
    assert.deepEqual(reasons, []);
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['throttled', 'frequency-fell'],
    );
    for (const { advice } of warnings) assert.ok(advice.length > 0 && !advice.includes('\n'));
  });
});

describe('the load probe', () => {
  /** pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime ... */
  const stat = (pid: number, name: string, parent: number, ticks: readonly number[]): string =>
    `${pid} (${name}) S ${parent} 1 1 0 -1 0 0 0 0 0 ${ticks.join(' ')} 20 0 1 0 5 0 0\n`;
  const FILES: Readonly<Record<string, string>> = {
    '/proc/stat':
      'cpu  999 999 999 999 999 999 999 999 0 0\ncpu0 100 10 5 800 20 1 2 7 50 0\ncpu1 200 0 0 700 0 0 0 3 0 0\ncpu2 9 9 9 9 9 9 9 9 0 0\nintr 5\n',
    '/proc/self/status': 'Name:\tnode\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n',
    '/proc/10/stat': stat(10, 'node', 1, [5, 1, 2, 2]),
    '/proc/11/stat': stat(11, 'a) S 99 (b', 10, [20, 0, 0, 0]),
    '/proc/12/stat': stat(12, 'grandchild', 11, [30, 0, 0, 0]),
    '/proc/13/stat': stat(13, 'stranger', 1, [500, 0, 0, 0]),
  };
  const read = (path: string): string | undefined => FILES[path];
  const pids = ['10', '11', '12', '13', '14'];

  it('counts the CPUs it may use, and its own tree with children it has buried', () => {
    assert.deepEqual(
      readLoad(10, read, () => pids),
      {
        totalTicks: 945 + 903,
        busyTicks: 115 + 200,
        stealTicks: 10,
        ownTicks: 10 + 20 + 30,
        throttleEvents: null,
        meanMhz: null,
      },
    );
  });

  it('is null where the kernel shows nothing', () => {
    assert.equal(
      readLoad(
        10,
        () => undefined,
        () => [],
      ),
      null,
    );
  });

  it('reads lists of CPUs as the kernel writes them', () => {
    assert.deepEqual([...parseCpuList('0-2,7,9-10\n')], [0, 1, 2, 7, 9, 10]);
  });

  it('reads this machine: time passes, and no more of it is ours than is busy', () => {
    const here = readLoad();
    assert.ok(here !== null && here.totalTicks > 0);
    assert.ok(here.ownTicks <= here.totalTicks);
  });
});
