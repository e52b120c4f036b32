// Goal: errors of a whole run are counted by kind over all lives, told once a minute, and never cost more disk than the run's budget.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ErrorRecord, fingerprintSchema, type Top10Line } from '../../../harness/contract/error-record.js';
import { createErrorJournal, REPORT_EVERY_S } from '../../../harness/ladder/health/error-journal.js';
import { createErrorMerge, MOST_FINGERPRINTS } from '../../../harness/ladder/health/error-merge.js';
import { createLogBudget, LAST_WORDS_BYTES, LEAST_BUDGET_BYTES, logBudgetBytes } from '../../../harness/ladder/health/log-budget.js';
import { errorTableBytes, openErrorTables } from '../../../harness/memory/error-tables.js';

const letters = (n: number): string => String.fromCharCode(97 + (Math.floor(n / 676) % 26), 97 + (Math.floor(n / 26) % 26), 97 + (n % 26));

function record(kind: number, over: Partial<ErrorRecord> = {}): ErrorRecord {
  const message = `Error: ${letters(kind)}`;
  return { envId: 1, entry: 'cart', operation: 'step', message, stack: `${message}\n    at f (/x/env.js:1:2)`, ...over };
}

function tablesOf(lines: number) {
  let now = 1000;
  const tables = openErrorTables(new ArrayBuffer(errorTableBytes(lines)), lines, true, () => ++now);
  return { add: tables.add, look: () => Array.from({ length: lines }, (_, line) => tables.read(line)) };
}

const sumOf = (line: { readonly top: readonly { readonly count: number }[] }) => line.top.reduce((sum, { count }) => sum + count, 0);

test('lines are merged by kind, with their entries, envs and workers', () => {
  // Goal: one env kind that fails in two workers and two mix entries is one fingerprint.
  const { add, look } = tablesOf(3);
  const merge = createErrorMerge(1000);
  for (let i = 0; i < 10; i++) add(0, record(1, { envId: i }));
  for (let i = 0; i < 5; i++) add(1, record(1, { envId: 100 + i, entry: 'pole' }));
  merge.take(look());
  for (let i = 0; i < 4; i++) add(1, record(1, { envId: 100, entry: 'pole' }));
  add(2, record(2, { envId: -1, entry: '', operation: 'idle' }));
  merge.take(look());
  merge.take(look());
  const [first, second, ...rest] = merge.top(10);
  assert.deepEqual(rest, []);
  assert.ok(first && second);
  fingerprintSchema.parse(first);
  assert.deepEqual([first.count, first.share, first.envs, first.workers], [19, 0.95, 15, [0, 1]]);
  assert.deepEqual(first.entries, { cart: 10, pole: 9 });
  assert.equal(first.env_ids.length, 8);
  assert.ok(first.last_s > first.first_s);
  assert.deepEqual([second.count, second.exemplar.operation, second.workers], [1, 'idle', [2]]);
  assert.deepEqual(merge.counts(), { total: 20, distinct: 2, lost: 0, unlisted: 0 });
});

test('whatever the order of errors and looks: total = counted + lost + unlisted, and counts only rise', () => {
  // Goal: property with more kinds than a table has cells, so that cells go and come back between looks.
  const action = fc.oneof(
    fc.constant('look' as const),
    fc.record({ line: fc.nat(1), kind: fc.nat(45), times: fc.integer({ min: 1, max: 4 }) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 150 }), (actions) => {
      const { add, look } = tablesOf(2);
      const merge = createErrorMerge(0);
      let added = 0;
      const before = new Map<string, number>();
      for (const step of [...actions, 'look' as const]) {
        if (step !== 'look') {
          for (let i = 0; i < step.times; i++) add(step.line, record(step.kind));
          added += step.times;
          continue;
        }
        merge.take(look());
        const { total, lost, unlisted } = merge.counts();
        const top = merge.top(1000);
        assert.equal(total, added);
        assert.equal(sumOf({ top }) + lost + unlisted, added);
        for (const { fingerprint, count } of top) {
          assert.ok(count >= (before.get(fingerprint) ?? 0));
          before.set(fingerprint, count);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a kind that lost its cell and comes back goes on where it stood', () => {
  // Goal: nothing is lost when each cell was seen before it went, and nothing is counted twice.
  const { add, look } = tablesOf(1);
  const merge = createErrorMerge(0);
  for (let i = 0; i < 9; i++) add(0, record(0));
  merge.take(look());
  for (let kind = 1; kind <= 40; kind++) {
    add(0, record(kind));
    merge.take(look());
  }
  for (let i = 0; i < 4; i++) add(0, record(0));
  merge.take(look());
  assert.equal(merge.top(1)[0]?.count, 13);
  assert.deepEqual(merge.counts(), { total: 53, distinct: 41, lost: 0, unlisted: 0 });
});

test('beyond a thousand kinds errors are counted without their kind', () => {
  // Goal: a kind per error (a message with random words) does not grow the supervisor.
  const { add, look } = tablesOf(1);
  const merge = createErrorMerge(0);
  for (let kind = 0; kind < 1500; kind++) {
    add(0, record(kind));
    if (kind % 20 === 19) merge.take(look());
  }
  assert.deepEqual(merge.counts(), { total: 1500, distinct: MOST_FINGERPRINTS, lost: 0, unlisted: 500 });
});

test('the budget is 64 MB for six days, scaled, a megabyte at least', () => {
  // Goal: stated figures.
  assert.equal(logBudgetBytes(6 * 86_400), 64_000_000);
  assert.equal(logBudgetBytes(86_400), 10_666_667);
  assert.equal(logBudgetBytes(60), LEAST_BUDGET_BYTES);
});

test('a report every minute with news, stacks once, and the last word at the end', async (t) => {
  // Goal: the file as people and tools read it.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-journal-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'errors', 'top10.ndjson');
  const { add, look } = tablesOf(1);
  const errors = createErrorMerge(0);
  const budget = createLogBudget(LEAST_BUDGET_BYTES);
  const journal = createErrorJournal({ path, errors, budget, onProblem: assert.fail });
  for (let s = 1; s <= 3 * REPORT_EVERY_S + 5; s++) {
    if (s < 100) add(0, record(s % 15));
    if (s === 3 * REPORT_EVERY_S + 1) add(0, record(3));
    errors.take(look());
    journal.tick(s);
  }
  await journal.close(3 * REPORT_EVERY_S + 5);
  const text = readFileSync(path, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Top10Line);
  assert.deepEqual(
    lines.map(({ run_s, errors: n, distinct, lost }) => [run_s, n, distinct, lost]),
    [
      [60, 60, 15, 0],
      [120, 99, 15, 0],
      [185, 100, 15, 0],
    ],
  );
  for (const line of lines) {
    assert.equal(line.top.length, 10);
    for (const kind of line.top) fingerprintSchema.parse(kind);
  }
  assert.ok(lines[0]?.top.every(({ exemplar }) => exemplar.stack.includes('env.js')));
  assert.ok(lines[2]?.top.every(({ exemplar }) => exemplar.stack === '' && exemplar.message !== ''));
  assert.equal(Buffer.byteLength(text), budget.writtenBytes);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a flood for six days stays within the budget, and the last report is still written', async () => {
  // Goal: row 52: what does not fit is counted; the end is told from what was kept back.
  const { add, look } = tablesOf(1);
  const errors = createErrorMerge(0);
  const budget = createLogBudget(LEAST_BUDGET_BYTES);
  let bytes = 0;
  const written: string[] = [];
  const append = async (_path: string, text: string) => {
    bytes += Buffer.byteLength(text);
    written.push(text);
  };
  const journal = createErrorJournal({ path: '/nowhere', errors, budget, onProblem: assert.fail, append });
  for (let minute = 1; minute <= 2000; minute++) {
    for (let kind = 0; kind < 12; kind++) add(0, record(kind, { stack: '    at f (/a.js:1:1)\n'.repeat(60) }));
    errors.take(look());
    journal.tick(minute * REPORT_EVERY_S);
  }
  assert.ok(budget.leftOutLines > 1000);
  assert.ok(bytes <= LEAST_BUDGET_BYTES - LAST_WORDS_BYTES);
  await journal.close(2001 * REPORT_EVERY_S);
  assert.ok(bytes <= LEAST_BUDGET_BYTES);
  assert.equal((JSON.parse(written.at(-1) ?? '') as Top10Line).errors, 24_000);
});

test('a disk that refuses is said once, costs lines and nothing else', async () => {
  // Goal: row 36: the run goes on, the counts stay right.
  const { add, look } = tablesOf(1);
  const errors = createErrorMerge(0);
  const said: string[] = [];
  const append = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  const journal = createErrorJournal({
    path: '/r/errors/top10.ndjson',
    errors,
    budget: createLogBudget(1e6),
    onProblem: (message) => said.push(message),
    append,
  });
  for (let minute = 1; minute <= 3; minute++) {
    add(0, record(1));
    errors.take(look());
    journal.tick(minute * REPORT_EVERY_S);
  }
  await journal.close(200);
  assert.equal(journal.failedWrites, 3);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /top10\.ndjson could not be written \(ENOSPC\); errors are still counted/);
  assert.equal(errors.counts().total, 3);
});
