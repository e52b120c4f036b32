import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_ROWS } from '../../harness/chaos/all-rows.js';
import { renderChaosMarkdown, summarise } from '../../harness/chaos/chaos-report.js';
import type { ChaosRow, RowOutcome } from '../../harness/chaos/chaos-row.js';
import { mostWithin } from '../../harness/chaos/invariants/budgets.js';
import { choosePairs } from '../../harness/chaos/pairs.js';
import { quantile } from '../../harness/chaos/quantile.js';
import { chooseRows } from '../../harness/chaos/run-chaos.js';
import { runRow } from '../../harness/chaos/run-matrix.js';
import { compareWindows } from '../../harness/chaos/storm.js';

const RUN = { seed: 1, patience: 1, windowSeconds: 1, say: () => undefined };
const GOOD: RowOutcome = { detectMs: 5, recoverMs: 50, problems: [], findings: { I1: { ok: true, evidence: '9 frames' } } };

function rowOf(run: ChaosRow['run'], more: Partial<ChaosRow> = {}): ChaosRow {
  return { row: 900, fault: 'a fault', outcome: 'held', recoverLimitMs: 100, run, ...more };
}

describe('one row of the matrix', () => {
  it('passes with what it saw', async () => {
    // Goal: PASS has no reason, and null for invariants nobody judged.
    const result = await runRow(
      rowOf(async () => GOOD),
      RUN,
    );
    assert.equal(result.result, 'PASS');
    assert.equal(result.reason, '');
    assert.equal(result.invariants.I1, true);
    assert.equal(result.invariants.I2, null);
    assert.equal(result.evidence.I1, '9 frames');
  });

  it('fails for a problem, for a broken invariant, and for an exception', async () => {
    // Goal: nothing that went wrong ends as PASS, and the reason says which.
    const problem = await runRow(
      rowOf(async () => ({ ...GOOD, problems: ['too late'] })),
      RUN,
    );
    assert.deepEqual([problem.result, problem.reason], ['FAIL', 'too late']);
    const broken = await runRow(
      rowOf(async () => ({ ...GOOD, findings: { I7: { ok: false, evidence: 'off by 1' } } })),
      RUN,
    );
    assert.deepEqual([broken.result, broken.reason, broken.invariants.I7], ['FAIL', 'I7: off by 1', false]);
    const thrown = await runRow(
      rowOf(async () => Promise.reject(new Error('no rig'))),
      RUN,
    );
    assert.match(thrown.reason, /could not be run: no rig/);
    assert.equal(thrown.result, 'FAIL');
  });

  it('is run again when only a rate complains, and keeps the first complaint', async () => {
    // Goal: another user of the machine does not fail a row; a real loss of rate does, twice.
    let runs = 0;
    const slow = { ...GOOD, findings: { I6: { ok: false, evidence: '80 % kept' } } };
    const once = await runRow(
      rowOf(async () => (runs++ === 0 ? slow : GOOD)),
      RUN,
    );
    assert.deepEqual([once.result, once.runs], ['PASS', 2]);
    assert.match(once.notes.join(), /80 % kept/);
    const always = await runRow(
      rowOf(async () => slow),
      RUN,
    );
    assert.deepEqual([always.result, always.runs], ['FAIL', 2]);
    let both = 0;
    await runRow(
      rowOf(async () => {
        both++;
        return { ...slow, problems: ['and more'] };
      }),
      RUN,
    );
    assert.equal(both, 1);
  });

  it('is skipped with its reason before anything is started', async () => {
    // Goal: a need that is not met runs nothing.
    const result = await runRow(
      rowOf(async () => assert.fail('it ran'), { needs: () => 'no cgroup v2 memory controller' }),
      RUN,
    );
    assert.deepEqual([result.result, result.reason], ['SKIPPED', 'no cgroup v2 memory controller']);
    assert.equal(
      (
        await runRow(
          rowOf(async () => ({ skipped: 'not here' })),
          RUN,
        )
      ).result,
      'SKIPPED',
    );
  });
});

describe('the matrix', () => {
  it('has each row once, in order', () => {
    // Goal: numbers are those of docs/chaos.md; none is told twice.
    const numbers = ALL_ROWS.map(({ row }) => row);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    assert.ok(numbers.every((row) => row >= 1 && row <= 54));
  });

  it('refuses a row that is not there', () => {
    // Goal: a typo in --only runs nothing.
    assert.throws(() => chooseRows([1, 99]), /no such row/);
    assert.deepEqual(
      chooseRows([1]).map(({ row }) => row),
      [1],
    );
    assert.deepEqual(chooseRows([]), []);
  });

  it('chooses the same pairs from the same seed', () => {
    // Goal: a pair that failed can be run again.
    const name = (seed: number) => choosePairs(ALL_ROWS, 20, seed).map(({ rows, apartMs }) => `${rows.map(({ row }) => row)} ${apartMs}`);
    assert.deepEqual(name(3), name(3));
    assert.notDeepEqual(name(3), name(4));
  });

  it('counts restarts in windows, and takes quantiles by rank', () => {
    // Goal: the arithmetic under I8 and the summary.
    assert.equal(mostWithin([0, 1000, 2000, 9000, 9500], 2), 3);
    assert.equal(mostWithin([], 2), 0);
    assert.equal(quantile([4, 1, 3, 2], 0.5), 2);
    assert.equal(quantile([4, 1, 3, 2], 0.99), 4);
    assert.equal(quantile([], 0.5), null);
  });

  it('measures a storm against the calm beside it, and lets one odd window decide nothing', () => {
    // Goal: a slow drift of the machine is no loss; a constant loss is seen through one burst.
    const drift = [100, 98, 96, 94, 92].map((rate, i) => ({ storm: i % 2 === 1, rate }));
    assert.ok(Math.abs(compareWindows(drift).loss) < 0.001);
    const burst = [100, 90, 100, 90, 100, 10, 100].map((rate, i) => ({ storm: i % 2 === 1, rate }));
    assert.ok(Math.abs(compareWindows(burst).loss - 0.1) < 1e-9);
    assert.ok(Number.isNaN(compareWindows([]).loss));
  });

  it('renders a report that says what failed', async () => {
    // Goal: the Markdown holds every row with its reason.
    const rows = [
      await runRow(
        rowOf(async () => ({ ...GOOD, problems: ['a | b'] })),
        RUN,
      ),
    ];
    const text = renderChaosMarkdown({
      schema_version: '1.0.0',
      rows,
      pairs: [],
      storm: null,
      seed: 1,
      patience: 1,
      machine: {
        hostname_hash: 'x',
        cpu_model: 'c',
        cores: 2,
        memory_bytes: 1,
        kernel: 'k',
        os: 'o',
        node: 'n',
        libc: 'l',
        load_average_at_start: 0,
      },
      started_at: '2026-01-01T00:00:00Z',
      summary: summarise(rows, 1, false),
    });
    assert.match(text, /0 passed, 1 failed, 0 skipped/);
    assert.match(text, /a \\\| b/);
  });
});
