// Goal: a comparison of run records fails for the right reasons only, and refuses what cannot be compared.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EnvladderError } from '../../../harness/contract/errors.js';
import { EXIT } from '../../../harness/contract/exit-codes.js';
import type { RunRecord } from '../../../harness/contract/run-record.js';
import { type CompareOptions, compareSides } from '../../../reports/compare/compare-sides.js';
import { readCounts } from '../../../reports/compare/read-counts.js';
import { readRuns, runFoldersAt } from '../../../reports/compare/read-runs.js';
import { renderComparisonMarkdown } from '../../../reports/compare/render-markdown.js';
import { renderComparisonTerminal } from '../../../reports/compare/render-terminal.js';
import { identityOf } from '../../../reports/compare/run-identity.js';
import { metricId, metricsOf } from '../../../reports/compare/run-metrics.js';
import { fixtureRecord } from '../../fixtures/ladder-run.js';
import { makeRuns, writeRuns } from './made-runs.js';

const folder = mkdtempSync(join(tmpdir(), 'envladder-compare-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const OPTIONS: CompareOptions = { seed: 1, draws: 200 };
const base = makeRuns({ name: 'base', runs: 8, seed: 1 });

function compared(candidate: readonly RunRecord[], options: CompareOptions = OPTIONS, from: readonly RunRecord[] = base) {
  return compareSides({ name: 'base', records: from }, { name: 'candidate', records: candidate }, options);
}

function verdicts(comparison: ReturnType<typeof compared>): Record<string, string> {
  return Object.fromEntries(comparison.metrics.map((metric) => [metricId(metric.key), metric.verdict]));
}

function refusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EnvladderError && error.code === 'bad-usage' && pattern.test(error.message);
}

test('runs of the same program pass', () => {
  const comparison = compared(makeRuns({ name: 'candidate', runs: 8, seed: 2 }));
  assert.equal(comparison.verdict, 'pass');
  assert.equal(comparison.exitCode, EXIT.good);
  assert.deepEqual(new Set(Object.values(verdicts(comparison))), new Set(['unchanged']));
});

test('a program 10 % slower fails with the exit code of a regression, a faster one does not', () => {
  const slow = compared(makeRuns({ name: 'candidate', runs: 8, seed: 2, slower: 1.1 }));
  assert.equal(slow.verdict, 'regressed');
  assert.equal(slow.exitCode, EXIT.regression);
  assert.equal(verdicts(slow)['sampling_sps@1000'], 'regressed');
  assert.equal(verdicts(slow)['step_latency_us.p50@3000'], 'regressed');
  assert.equal(verdicts(slow)['pss_bytes@1000'], 'unchanged');
  const fast = compared(makeRuns({ name: 'candidate', runs: 8, seed: 2, slower: 0.9 }));
  assert.equal(fast.exitCode, EXIT.good);
  assert.equal(verdicts(fast)['sampling_sps@1000'], 'improved');
});

test('one byte of shared memory more and one restart more fail, in a single run against a single run', () => {
  const more = (field: 'shm_bytes' | 'restarts') =>
    makeRuns({
      name: 'candidate',
      runs: 1,
      seed: 2,
      change: (record) => ({ ...record, tiers: record.tiers.map((tier, i) => (i === 1 ? { ...tier, [field]: tier[field] + 1 } : tier)) }),
    });
  for (const field of ['shm_bytes', 'restarts'] as const) {
    const comparison = compared(more(field), OPTIONS, base.slice(0, 1));
    assert.equal(comparison.exitCode, EXIT.regression, field);
    assert.deepEqual(
      Object.entries(verdicts(comparison)).filter(([, verdict]) => verdict === 'regressed'),
      [[`${field}@3000`, 'regressed']],
    );
    assert.equal(verdicts(comparison)['sampling_sps@1000'], 'insufficient-data');
  }
});

test('bytes copied per step are exact for one kind, up to the frames in flight at the edges, and noisy for a mix', () => {
  const [one] = base as [RunRecord];
  const kinds = (names: readonly string[]): RunRecord => ({
    ...one,
    env_kinds: Object.fromEntries(Object.entries(one.env_kinds).filter(([name]) => names.includes(name))),
    tiers: one.tiers.map((tier) => ({ ...tier, agent_steps: 100_000, bytes_copied: 1_600_000 })),
  });
  const found = (record: RunRecord) => metricsOf(record).find((metric) => metric.name === 'bytes_copied_per_step');
  assert.deepEqual([found(kinds(['cartpole']))?.kind, found(kinds(['cartpole']))?.value], ['count', 16]);
  assert.equal(found(kinds(['cartpole']))?.slack, (16 * 2 * 1000) / 100_000);
  assert.equal(found(kinds(['cartpole', 'field']))?.kind, 'timing');
});

test('a tier that the candidate never reached is missing and fails; one that the base never reached is new and does not', () => {
  const short = makeRuns({ name: 'candidate', runs: 8, seed: 2, change: (record) => ({ ...record, tiers: record.tiers.slice(0, 1) }) });
  const lost = compared(short);
  assert.equal(lost.exitCode, EXIT.regression);
  assert.equal(verdicts(lost)['sampling_sps@3000'], 'missing');
  const gained = compareSides({ name: 'a', records: short }, { name: 'b', records: base }, OPTIONS);
  assert.equal(gained.exitCode, EXIT.good);
  assert.equal(verdicts(gained)['sampling_sps@3000'], 'new');
});

test('an invalid run makes the comparison invalid whichever side it is on, and its figures are not used', () => {
  const spoil = (record: RunRecord, run: number): RunRecord =>
    run > 0
      ? record
      : {
          ...record,
          verdict: 'invalid',
          validity: { verdict: 'invalid', reasons: [{ code: 'interrupted', message: 'it was interrupted', advice: '' }] },
          tiers: record.tiers.map((tier) => ({ ...tier, shm_bytes: tier.shm_bytes * 2 })),
        };
  const spoilt = makeRuns({ name: 'candidate', runs: 9, seed: 2, slower: 1.2, change: spoil });
  const comparison = compared(spoilt);
  assert.equal(comparison.verdict, 'invalid');
  assert.equal(comparison.exitCode, EXIT.invalid);
  assert.deepEqual(comparison.invalidRuns, [{ side: 'candidate', run: 'candidate-001', reason: 'it was interrupted' }]);
  assert.equal(verdicts(comparison)['shm_bytes@1000'], 'unchanged');
  assert.equal(compareSides({ name: 'a', records: spoilt }, { name: 'b', records: base }, OPTIONS).exitCode, EXIT.invalid);
});

test('runs of another machine class, plan or configuration are refused by name, unless forced, and then it is said', () => {
  const [own] = base as [RunRecord];
  const others: readonly (readonly [RegExp, (record: RunRecord) => RunRecord])[] = [
    [/machine class: .*2 cores.* \| .*64 cores/, (record) => ({ ...record, machine: { ...record.machine, cores: 64 } })],
    [/plan: default \| other/, (record) => ({ ...record, plan: { ...record.plan, name: 'other' } })],
    [/configuration/, (record) => ({ ...record, plan: { ...record.plan, seed: 2 } })],
    [/configuration/, (record) => ({ ...record, learner: { ...record.learner, backend: 'tfjs-node' } })],
  ];
  for (const [pattern, change] of others) {
    const candidate = makeRuns({ name: 'candidate', runs: 8, seed: 2, change });
    assert.throws(() => compared(candidate), refusal(pattern));
    const forced = compared(candidate, { ...OPTIONS, forceDifferent: true });
    assert.equal(forced.overridden.length, 1);
  }
  const [first] = makeRuns({ name: 'x', runs: 1, seed: 1, change: (record) => ({ ...record, plan: { ...record.plan, seed: 2 } }) });
  assert.throws(() => compared(makeRuns({ name: 'c', runs: 2, seed: 2 }), OPTIONS, [own, first as RunRecord]), refusal(/configuration/));
});

test('what only judges or names does not change the configuration; what shapes the work does', () => {
  const record = fixtureRecord();
  const hash = (plan: Record<string, unknown>) => identityOf({ ...record, plan: { ...record.plan, ...plan } }).configHash;
  assert.equal(hash({ description: 'other', slos: [{ metric: 'sampling_sps' }], quiet: {}, expect: {}, module: './x.ts' }), hash({}));
  const reversed = Object.fromEntries(Object.entries(record.plan).reverse());
  assert.equal(identityOf({ ...record, plan: reversed }).configHash, hash({}));
  for (const change of [{ seed: 9 }, { workers: 3 }, { ppo: { horizon: 3 } }, { tiers: [{ envs: 5, seconds: 1, label: '5' }] }]) {
    assert.notEqual(hash(change), hash({}), JSON.stringify(change));
  }
});

test('a version of an env kind or of Node that differs is noted and blocks nothing', () => {
  const candidate = makeRuns({
    name: 'candidate',
    runs: 8,
    seed: 2,
    change: (record) => ({
      ...record,
      machine: { ...record.machine, kernel: '7.0.0' },
      env_kinds: Object.fromEntries(Object.entries(record.env_kinds).map(([name, kind]) => [name, { ...kind, version: '9.9.9' }])),
    }),
  });
  const notes = compared(candidate).notes.map(({ what }) => what);
  assert.ok(notes.includes('kernel') && notes.includes('version of env kind cartpole'), notes.join());
});

test('warnings that runs carry are counted by run and repeated in every format', () => {
  const warning = { code: 'foreign', message: 'others used 31 % of the CPUs', advice: '' };
  const candidate = makeRuns({
    name: 'candidate',
    runs: 8,
    seed: 2,
    change: (record, run) => ({ ...record, warnings: run < 3 ? [warning, warning] : [] }),
  });
  const comparison = compared(candidate);
  assert.deepEqual(comparison.warnings, [{ code: 'foreign', runs: 3, message: warning.message }]);
  for (const text of [renderComparisonTerminal(comparison), renderComparisonMarkdown(comparison)]) {
    assert.match(text.replace(/\s+/g, ' '), /3 of 16 runs warned, as in: others used 31 % of the CPUs/);
  }
});

test('a run on both sides and an empty side are refused', () => {
  assert.throws(() => compared(base), refusal(/on both sides/));
  assert.throws(() => compared([]), refusal(/at least one run/));
});

test('folders are run folders or hold run folders; anything else is refused with what was looked for', () => {
  const dir = join(folder, 'runs');
  writeRuns(dir, base);
  writeFileSync(join(dir, 'notes.txt'), 'not a run');
  assert.equal(runFoldersAt(dir).length, 8);
  assert.deepEqual(runFoldersAt(join(dir, 'base-003')), [join(dir, 'base-003')]);
  assert.deepEqual(
    readRuns([join(dir, 'base-002'), join(dir, 'base-001'), join(dir, 'base-002')]).map((record) => record.run.id),
    ['base-002', 'base-001'],
  );
  assert.throws(() => readRuns([join(folder, 'nothing')]), refusal(/no such folder/));
  assert.throws(() => readRuns([folder]), refusal(/holds a run\.json/));
  writeRuns(join(folder, 'copies'), base.slice(0, 1));
  assert.throws(() => readRuns([dir, join(folder, 'copies')]), refusal(/hold the same run/));
  writeFileSync(join(dir, 'base-004', 'run.json'), '{"schema_version": "1.0.0", "run":');
  assert.throws(
    () => readRuns([dir]),
    (error: unknown) => error instanceof EnvladderError && error.code === 'bad-record',
  );
});

test('counts beside the runs are read with them, a damaged file is refused with its name', () => {
  const at = join(folder, 'counted');
  writeRuns(at, makeRuns({ name: 'counted', runs: 1, seed: 1 }));
  assert.deepEqual(readCounts([at]), []);
  const counts = [
    { name: 'heap_bytes_per_step', value: 0 },
    { name: 'io_calls_per_million_steps', value: null },
  ];
  writeFileSync(join(at, 'counts.json'), JSON.stringify({ machine: {}, results: counts }));
  assert.deepEqual(readCounts([at]), [counts[0]]);
  assert.equal(readRuns([at]).length, 1, 'the file is no run');
  for (const text of [
    '{',
    '[]',
    '{"results":[{"name":"x","value":-1}]}',
    '{"results":[{"name":"\\u001b[2J","value":1}]}',
    `{"results":[{"name":"x","value":1e999}]}`,
  ]) {
    writeFileSync(join(at, 'counts.json'), text);
    assert.throws(
      () => readCounts([at]),
      (error: unknown) =>
        error instanceof EnvladderError && error.code === 'bad-record' && /counts\.json: no counts of a build/.test(error.message),
    );
  }
});

test('a count of the build that rose fails, whatever the runs say; one that only the candidate has does not', () => {
  const records = makeRuns({ name: 'candidate', runs: 8, seed: 2 });
  const counted = (baseCounts: number[], counts: number[]) => {
    const named = (values: number[]) => values.map((value, i) => ({ name: `count_${i}`, value }));
    const side = { name: 'base', records: base, counts: named(baseCounts) };
    return compareSides(side, { name: 'candidate', records, counts: named(counts) }, OPTIONS);
  };
  assert.equal(counted([1, 0], [1, 0.001]).exitCode, EXIT.regression);
  assert.equal(counted([1], [1, 5]).exitCode, EXIT.good);
  assert.equal(verdicts(counted([1], [0.5]))['count_0'], 'improved');
});

test('a program that writes one event more in every run fails, one that had more to tell in some runs does not', () => {
  const writing = (written: (run: number) => number) =>
    makeRuns({ name: 'candidate', runs: 8, seed: 2 }).map((record, i) => ({
      ...record,
      events: { ...record.events, written: written(i) },
    }));
  const usual = base[0]?.events.written ?? 0;
  assert.equal(verdicts(compared(writing(() => usual + 1)))['rows_written'], 'regressed');
  assert.equal(verdicts(compared(writing((run) => usual + 7 * (run % 2))))['rows_written'], 'unchanged');
  assert.equal(verdicts(compared(writing(() => usual + 1).slice(0, 2)))['rows_written'], undefined, 'two runs do not say what is usual');
});
