import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EnvladderError } from '../../harness/contract/errors.js';
import { readReportModel } from '../../reports/model.js';
import { MAX_POINTS, readMetrics } from '../../reports/read-metrics.js';
import { renderReport } from '../../reports/render-report.js';
import { REPORT_FORMATS } from '../../reports/report-format.js';
import { fixtureMetrics } from '../fixtures/ladder-run.js';
import { rawRecord, reportRunDir } from '../fixtures/report-runs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const READ_METRICS = `
import { readMetrics } from './reports/read-metrics.js';
console.log(JSON.stringify(readMetrics(process.argv[1])));
`;

function folderWith(runJson: unknown): string {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-folder-'));
  writeFileSync(join(dir, 'run.json'), typeof runJson === 'string' ? runJson : JSON.stringify(runJson));
  return dir;
}

function refusal(dir: string): string {
  try {
    renderReport(dir, { formats: REPORT_FORMATS });
  } catch (error) {
    assert.ok(error instanceof EnvladderError && error.code === 'bad-record', String(error));
    assert.ok(error.message.includes(dir), 'the message says which folder');
    return error.message;
  }
  return assert.fail('it was rendered');
}

test('a record of an older or newer minor version renders, one of another major version is refused with what it needs', () => {
  // Goal: nobody loses an old run to an upgrade, and nobody reads a future one wrongly.
  for (const version of ['1.0.0', '1.0.7', '1.9.0']) {
    const dir = folderWith({ ...rawRecord('invalid'), schema_version: version, field_of_tomorrow: { a: 1 } });
    assert.equal(renderReport(dir, { formats: REPORT_FORMATS }).written.length, 8);
  }
  assert.match(
    refusal(folderWith({ ...rawRecord('invalid'), schema_version: '2.0.0' })),
    /2\.0\.0.*reads schema 2\.x, a newer one: upgrade/,
  );
  assert.match(refusal(folderWith({ ...rawRecord('invalid'), schema_version: '0.9.1' })), /0\.9\.1.*reads schema 0\.x, an older one/);
  for (const version of ['one', '', '1', 'v1.0.0', 1, null, undefined])
    assert.match(refusal(folderWith({ ...rawRecord('invalid'), schema_version: version })), /is no run record.*wanted 1\.x\.y/);
});

test('a record cut at any point is refused, and says so', () => {
  // Goal: a copy that broke off, or a disk that lost the end, is told from another kind of file.
  const text = readFileSync(join(reportRunDir('invalid'), 'run.json'), 'utf8').trimEnd();
  for (const share of [0, 0.001, 0.1, 0.5, 0.9, 0.999]) {
    const dir = folderWith(text);
    truncateSync(join(dir, 'run.json'), Math.floor(text.length * share));
    assert.match(refusal(dir), /cut short.*copy the run folder again/, `${share}`);
  }
});

test('folders of something else are refused: another tool’s, none, a file, a folder in place of the record', () => {
  // Goal: a wrong path is named before anything is written.
  assert.match(refusal(folderWith({ name: 'my-app', version: '1.0.0' })), /no schema_version.*point at the folder of a run/);
  for (const other of ['[]', 'null', '7', '"text"']) assert.match(refusal(folderWith(other)), /no run record/);
  const empty = mkdtempSync(join(tmpdir(), 'envladder-folder-'));
  assert.match(refusal(empty), /ENOENT.*point at the folder of a run/);
  assert.match(refusal(join(empty, 'run-of-yesterday')), /ENOENT/);
  mkdirSync(join(empty, 'run.json'));
  assert.match(refusal(empty), /it is no file/);
  assert.match(refusal(folderWith({ ...rawRecord('invalid'), tiers: 'all' })), /tiers: /);
});

test('a hostile record cannot take the reader’s stack or memory', () => {
  // Goal: what no run writes is refused with the bound, not met with a crash.
  const record = rawRecord('invalid');
  const [tier] = record.tiers as [Record<string, unknown>];
  const deep = `{"plan":{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}},${JSON.stringify({ ...record, plan: undefined }).slice(1)}`;
  assert.match(refusal(folderWith(deep)), /plan nested deeper than 64 levels/);
  assert.match(refusal(folderWith({ ...record, tiers: Array.from({ length: 2_001 }, () => tier) })), /2,001 tiers.*at most 2,000/);
  const names = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`phase ${i}`, 1]));
  assert.match(refusal(folderWith({ ...record, tiers: [{ ...tier, phase_seconds: names }] })), /1,001 names in one tier/);
  const sparse = folderWith('');
  truncateSync(join(sparse, 'run.json'), 200 * 2 ** 20);
  assert.match(refusal(sparse), /200 MiB, a record has at most 128 MiB/);
  const infinite = JSON.stringify(record).replace(/"sampling_sps":[\d.]+/, '"sampling_sps":1e999');
  assert.match(refusal(folderWith(infinite)), /sampling_sps/);
  const proto = JSON.stringify(record).replace('"plan":{', '"plan":{"__proto__":{"polluted":true},');
  renderReport(folderWith(proto), { formats: REPORT_FORMATS });
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('metrics that are binary, endless or unreadable cost no curve more than themselves', () => {
  // Goal: the lines around a damaged stretch are drawn; a file without line ends is passed over in bounded memory.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-metrics-'));
  const path = join(dir, 'metrics.ndjson');
  const [first, second] = fixtureMetrics();
  const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 37) % 256).filter((byte) => byte !== 10));
  const parts = [`${JSON.stringify(first)}\n`, noise, '\n', 'x'.repeat(300_000), '\n', `${JSON.stringify(second)}\n`];
  writeFileSync(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  assert.deepEqual(readMetrics(path), [first, second]);
  truncateSync(path, 256 * 2 ** 20);
  const child = spawnSync(
    process.execPath,
    ['--max-old-space-size=96', '--import', 'tsx', '--input-type=module', '-e', READ_METRICS, path],
    { cwd: ROOT, encoding: 'utf8' },
  );
  assert.equal(child.status, 0, child.stderr.slice(-500));
  assert.deepEqual(JSON.parse(child.stdout), [first, second], 'a quarter of a gigabyte without a line end is never held');
  const folder = folderWith(rawRecord('invalid'));
  mkdirSync(join(folder, 'metrics.ndjson'));
  assert.match(refusal(folder), /metrics\.ndjson cannot be read \(EISDIR\)/);
  assert.ok(MAX_POINTS < 2_000);
});

test('the command says what is wrong with a folder in one block, exit code 2, and writes nothing', () => {
  // Goal: the same message reaches a person, also when sealing looked at the folder first.
  const dir = folderWith({ ...rawRecord('invalid'), schema_version: '2.3.0' });
  const out = join(dir, 'out');
  const run = spawnSync(process.execPath, ['--import', 'tsx', 'harness/cli/main.ts', 'report', dir, '--format', 'all', '--out', out], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(run.status, 2);
  assert.match(run.stderr, /schema version 2\.3\.0.*upgrade/);
  assert.ok(!/\n\s+at /.test(run.stderr), run.stderr);
  assert.throws(() => readFileSync(join(out, 'report.md')), /ENOENT/);
  assert.throws(() => readReportModel(dir), EnvladderError);
  assert.throws(
    () => renderReport(reportRunDir('invalid'), { out: '/proc/no-such-place/out' }),
    (error) => error instanceof EnvladderError && /\/proc\/no-such-place\/out.*could not be written \(ENOENT\)/.test(error.message),
  );
  const wrong = spawnSync(process.execPath, ['--import', 'tsx', 'harness/cli/main.ts', 'report', dir, '--format', 'md,pdf'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /'pdf' is no format.*md,html,junit,tensorboard,csv,prometheus,github/);
});
