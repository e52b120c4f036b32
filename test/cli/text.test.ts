// What people read: status lines that fit the terminal, errors that name what to do, commands that can be typed again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { describeError } from '../../harness/cli/print-error.js';
import { statusLine, statusLines } from '../../harness/cli/status-text.js';
import { typedCommand } from '../../harness/cli/typed-command.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { formatBytes, formatSeconds } from '../../harness/ladder/format-amount.js';
import type { LadderStatus } from '../../harness/ladder/ladder-status.js';

const STATUS: LadderStatus = {
  phase: 'measuring',
  tier: 1,
  tiers: 4,
  label: '3,000',
  envs: 3000,
  live: 2999,
  quarantined: 1,
  runSeconds: 42,
  tierSeconds: 10,
  plannedSeconds: 20,
  etaSeconds: 70,
  samplingSps: 31_234.4,
  trainingSps: 15_000,
  batchFill: 0.93,
  updates: 12,
  restarts: 2,
  memoryBytes: 1.5 * 2 ** 30,
  kinds: {
    cartpole: { episodes: 5, returnSum: 1, lengthSum: 1, recentReturn: 38.25, recentLength: 38 },
    field: { episodes: 0, returnSum: 0, lengthSum: 0, recentReturn: null, recentLength: null },
  },
};

describe('live status', () => {
  it('shows tier, live envs, rates, fill, restarts, memory, ETA and reward, on a terminal and in a log', () => {
    for (const text of [statusLines(STATUS, 200).join('\n'), statusLine(STATUS)]) {
      for (const part of [
        'tier 2/4',
        '2,999',
        '31,234',
        '15,000',
        '93 %',
        '1.5 GiB',
        'ETA 1 min 10 s',
        'cartpole 38.3',
        'measuring 10 of 20 s',
      ])
        assert.ok(text.includes(part), `${part} in ${text}`);
      assert.match(text, /restarts 2|2 worker restarts/);
      assert.ok(!text.includes('field'), 'a kind without an ended episode has no reward yet');
    }
    assert.ok(!statusLine(STATUS).includes('\n'));
  });

  it('never draws a line wider than the terminal, or none at all', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 250 }),
        fc.constantFrom<LadderStatus['phase']>('starting', 'growing', 'measuring', 'stopping', 'done'),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (columns, phase, amount) => {
          const lines = statusLines({ ...STATUS, phase, samplingSps: amount, tierSeconds: amount, plannedSeconds: 0 }, columns);
          assert.equal(lines.length, 5);
          for (const line of lines) assert.ok([...line].length <= columns);
        },
      ),
    );
  });
});

describe('errors', () => {
  it('shows problems of a plan line by line, as editors expect them', () => {
    const text = describeError(new EnvladderError('bad-plan', 'p.yaml:3: mix: bad\n--seed: worse'), false);
    assert.equal(text, 'envladder: 2 problems in the plan\np.yaml:3: mix: bad\n--seed: worse\n(bad-plan, exit code 2)');
  });

  it('keeps stacks and causes for bugs and --verbose', () => {
    const error = new EnvladderError('bad-module', 'module x: threw', { cause: new Error('inner') });
    assert.equal(describeError(error, false), 'envladder: module x: threw\n(bad-module, exit code 2)');
    assert.match(describeError(error, true), /caused by: Error: inner\n {4}at /);
    assert.match(describeError(new TypeError('oops'), false), /this is a bug: .*\nTypeError: oops\n {4}at [\s\S]*\(exit code 1\)$/);
  });
});

describe('amounts and commands', () => {
  it('are readable', () => {
    assert.deepEqual([0, 512, 1536, 210 * 2 ** 20, 2 ** 40, Number.POSITIVE_INFINITY].map(formatBytes), [
      '0 B',
      '512 B',
      '1.5 KiB',
      '210 MiB',
      '1.0 TiB',
      'unlimited',
    ]);
    assert.deepEqual([0.25, 4, 59.6, 200, 7500, 518_400].map(formatSeconds), [
      '0.3 s',
      '4 s',
      '1 min 00 s',
      '3 min 20 s',
      '2 h 05 min',
      '6 d 0 h',
    ]);
  });

  it('can be pasted into a shell', () => {
    assert.equal(
      typedCommand(['ladder', '--mix', 'cartpole=0.5,field=0.5', '--module', "my env's.ts", '']),
      `npm run ladder -- --mix cartpole=0.5,field=0.5 --module 'my env'\\''s.ts' ''`,
    );
    assert.equal(typedCommand(['compare', 'a', 'b']), 'npm run -s envladder -- compare a b');
  });

  it('run again: into a folder of their own, with what was decided for the user', () => {
    const ran = { workers: 3, backend: 'wasm' };
    assert.equal(
      typedCommand(['ladder', '--out', 'x', '--seed', '2', '--workers=0', '--backend', 'auto', '--out=y'], ran),
      'npm run ladder -- --seed 2 --workers 3 --backend wasm',
    );
    assert.equal(typedCommand(['ladder'], { workers: 1, backend: 'auto' }), 'npm run ladder -- --workers 1');
    assert.equal(typedCommand(['compare', '--base', 'main', '--out', 'x']), 'npm run -s envladder -- compare --base main');
  });
});
