// Goal: the history only grows, keeps every run once, and survives what kills and crowds do to files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EnvladderError } from '../../../harness/contract/errors.js';
import { appendRuns, readHistories } from '../../../reports/history/history-folder.js';
import { makeRuns, writeRuns } from '../compare/made-runs.js';

const folder = mkdtempSync(join(tmpdir(), 'envladder-history-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function refusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EnvladderError && error.code === 'bad-usage' && pattern.test(error.message);
}

function onlyFile(dir: string): string {
  const [name, ...others] = readdirSync(dir);
  assert.equal(others.length, 0);
  return join(dir, name ?? '');
}

test('runs come back in the order they were run, whatever order they were added in', () => {
  const dir = join(folder, 'order');
  const runs = makeRuns({ name: 'run', runs: 5, seed: 1 });
  appendRuns(dir, runs.slice(3));
  appendRuns(dir, runs.slice(0, 3));
  assert.deepEqual(
    readHistories(dir).map(({ entries }) => entries.map((entry) => entry.run)),
    [runs.map((record) => record.run.id)],
  );
});

test('each machine class, plan and configuration has a file of its own', () => {
  const dir = join(folder, 'files');
  const [a, b, c, d] = makeRuns({
    name: 'run',
    runs: 4,
    seed: 1,
    change: (record, i) => ({
      ...record,
      machine: { ...record.machine, cores: i === 1 ? 64 : record.machine.cores },
      plan: { ...record.plan, ...(i === 2 ? { name: 'other' } : {}), ...(i === 3 ? { seed: 9 } : {}) },
    }),
  });
  assert.ok(a && b && c && d);
  appendRuns(dir, [a, b, c, d]);
  assert.deepEqual(
    readHistories(dir)
      .map(({ entries }) => entries.length)
      .join(),
    '1,1,1,1',
  );
});

test('adding leaves every byte that was there', () => {
  const dir = join(folder, 'append-only');
  const runs = makeRuns({ name: 'run', runs: 4, seed: 1 });
  appendRuns(dir, runs.slice(0, 2));
  const before = readFileSync(onlyFile(dir), 'utf8');
  appendRuns(dir, runs.slice(2));
  assert.ok(readFileSync(onlyFile(dir), 'utf8').startsWith(before));
});

test('a torn last line is skipped, and the next run is not glued to it', () => {
  const dir = join(folder, 'torn');
  const runs = makeRuns({ name: 'run', runs: 3, seed: 1 });
  appendRuns(dir, runs.slice(0, 2));
  const file = onlyFile(dir);
  truncateSync(file, readFileSync(file).length - 40);
  const torn = readHistories(dir)[0];
  assert.deepEqual([torn?.entries.map((entry) => entry.run), torn?.skippedLines], [['run-001'], 1]);
  appendRuns(dir, runs.slice(1));
  const mended = readHistories(dir)[0];
  assert.deepEqual([mended?.entries.map((entry) => entry.run), mended?.skippedLines], [['run-001', 'run-002', 'run-003'], 1]);
});

test('a run is refused the second time, and with it everything that was to be added beside it', () => {
  const dir = join(folder, 'twice');
  const runs = makeRuns({ name: 'run', runs: 3, seed: 1 });
  appendRuns(dir, runs.slice(0, 1));
  const before = readFileSync(onlyFile(dir), 'utf8');
  assert.throws(() => appendRuns(dir, [...runs].reverse()), refusal(/run-001 is already in .*nothing was added/));
  assert.equal(readFileSync(onlyFile(dir), 'utf8'), before);
  assert.throws(
    () =>
      appendRuns(
        dir,
        [runs[1], runs[1]].filter((run) => run !== undefined),
      ),
    refusal(/run-002 is already in/),
  );
});

test('two programs that added the same run at once leave it counted once', () => {
  const dir = join(folder, 'race');
  appendRuns(dir, makeRuns({ name: 'run', runs: 2, seed: 1 }));
  const file = onlyFile(dir);
  appendFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0]}\n`);
  assert.equal(readHistories(dir)[0]?.entries.length, 2);
});

test('a run that has not ended is refused', () => {
  const [run] = makeRuns({ name: 'run', runs: 1, seed: 1, change: (record) => ({ ...record, run: { ...record.run, state: 'running' } }) });
  assert.throws(() => appendRuns(join(folder, 'running'), run === undefined ? [] : [run]), refusal(/has not ended/));
});

test('lines of a newer version and foreign lines are skipped and counted, other files are left alone', () => {
  const dir = join(folder, 'foreign');
  appendRuns(dir, makeRuns({ name: 'run', runs: 1, seed: 1 }));
  const file = onlyFile(dir);
  appendFileSync(file, `${readFileSync(file, 'utf8').trim().replace('"version":1', '"version":2')}\nnot json\n[1]\n`);
  writeFileSync(join(dir, 'notes.txt'), 'mine');
  const [history] = readHistories(dir);
  assert.deepEqual([history?.entries.length, history?.skippedLines], [1, 3]);
  assert.deepEqual(readHistories(join(folder, 'not-there')), []);
});

test('programs that add at the same time lose nothing', async () => {
  const dir = join(folder, 'crowd');
  const writers = 3;
  const each = 8;
  const script = `
    import { appendRuns } from ${JSON.stringify(new URL('../../../reports/history/history-folder.ts', import.meta.url).href)};
    import { readRuns } from ${JSON.stringify(new URL('../../../reports/compare/read-runs.ts', import.meta.url).href)};
    for (const record of readRuns([process.argv[1]])) appendRuns(process.argv[2], [record]);`;
  const codes = Array.from({ length: writers }, (_, i) => {
    const from = join(folder, `crowd-${i}`);
    writeRuns(from, makeRuns({ name: `writer${i}`, runs: each, seed: i }));
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, from, dir], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Promise<number | null>((resolve) => child.on('close', resolve));
  });
  assert.deepEqual(await Promise.all(codes), new Array(writers).fill(0));
  const [history] = readHistories(dir);
  assert.deepEqual([history?.entries.length, history?.skippedLines], [writers * each, 0]);
});
