// Goal: `compare --base REF` builds the right two trees, runs them in turns and leaves nothing behind but run folders. The clone is a tiny
// one whose compiler copies a program that writes a run record with the speed found in its tree.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { createInterrupts } from '../../harness/ladder/interrupts.js';
import { runRefs } from '../../harness/ladder/run-refs.js';
import { compareSides } from '../../reports/compare/compare-sides.js';
import { readCounts } from '../../reports/compare/read-counts.js';
import { readRuns } from '../../reports/compare/read-runs.js';
import { fixtureRecord } from '../fixtures/ladder-run.js';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'envladder-refs-test-'));
  folders.push(folder);
  return folder;
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { encoding: 'utf8' }).trim();
}

/** Writes run.json with rates divided by the tree's `slower.txt`; exit code from `exit.txt` when there is one. */
const PROGRAM = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const root = join(import.meta.dirname, '..', '..', '..');
const out = process.argv[process.argv.indexOf('--out') + 1];
if (existsSync(join(root, 'exit.txt'))) { process.stderr.write('it would not run'); process.exit(Number(readFileSync(join(root, 'exit.txt'), 'utf8'))); }
const slower = Number(readFileSync(join(root, 'slower.txt'), 'utf8'));
const record = JSON.parse(readFileSync(join(root, 'record.json'), 'utf8'));
record.run.id = out.split('/').slice(-2).join('-');
record.run.started_at = new Date().toISOString();
for (const tier of record.tiers) tier.sampling_sps = tier.sampling_sps / slower * (1 + 0.001 * Number(out.slice(-1)));
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'run.json'), JSON.stringify(record));
`;

/** Prints what a step costs as the bench does; the count is the tree's own. A tree without bench.mjs has no bench. */
const BENCH = `
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
const value = Number(readFileSync(join(import.meta.dirname, '..', '..', '..', 'messages.txt'), 'utf8'));
process.stdout.write(JSON.stringify({ machine: {}, results: [{ name: 'messages_per_million_steps', unit: 'messages', value }, { name: 'io_calls_per_million_steps', value: null }] }));
`;

const COMPILER = `
const { cpSync, existsSync, mkdirSync } = require('node:fs');
mkdirSync('dist/harness/cli', { recursive: true });
mkdirSync('dist/harness/bench', { recursive: true });
cpSync('main.mjs', 'dist/harness/cli/main.mjs');
if (existsSync('bench.mjs')) cpSync('bench.mjs', 'dist/harness/bench/bench.mjs');
if (existsSync('bench.mjs')) require('node:fs').writeFileSync('dist/harness/bench/main.js', "import './bench.mjs';");
require('node:fs').writeFileSync('dist/harness/cli/main.js', "import './main.mjs';");
`;

interface Clone {
  readonly root: string;
  readonly work: string;
  readonly temp: string;
}

/** A clone with one commit that runs at full speed. */
function makeClone(): Clone {
  const root = tempFolder();
  const write = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const record = fixtureRecord();
  write('package.json', '{"name":"tiny","type":"module"}');
  write('package-lock.json', '{"lockfileVersion":3}');
  write('native/build.mjs', 'import { writeFileSync } from "node:fs"; writeFileSync("native/build/envladder.node", "built");');
  write('main.mjs', PROGRAM);
  write('record.json', JSON.stringify({ ...record, tiers: record.tiers.slice(0, 1) }));
  write('bench.mjs', BENCH);
  write('messages.txt', '0');
  write('slower.txt', '1');
  write('.gitignore', 'node_modules/\ndist/\nnative/build/\n');
  write('node_modules/typescript/package.json', '{"name":"typescript"}');
  write('node_modules/typescript/bin/tsc', COMPILER);
  write('node_modules/typescript/precious.txt', 'must survive');
  git(root, 'init', '--quiet', '--initial-branch=main');
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '-m', 'one');
  const work = tempFolder();
  writeFileSync(join(work, 'plan.yaml'), 'name: tiny\ntiers: [1]\n');
  return { root, work, temp: tempFolder() };
}

/** Runs with TMPDIR in the test's own folder, so that what is left behind can be seen. */
async function refs(clone: Clone, ref: string, runs = 4, interrupts = createInterrupts(), say: (line: string) => void = () => undefined) {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = clone.temp;
  try {
    return await runRefs({ ref, plan: './plan.yaml', runs, seed: 1, out: 'out', cwd: clone.work, interrupts, say, root: clone.root });
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

function assertClean(clone: Clone): void {
  assert.deepEqual(readdirSync(clone.temp), [], 'temporary folders are gone');
  assert.equal(git(clone.root, 'worktree', 'list').split('\n').length, 1, 'worktrees are gone');
  assert.equal(readFileSync(join(clone.root, 'node_modules', 'typescript', 'precious.txt'), 'utf8'), 'must survive');
}

test('uncommitted and untracked changes of the current tree are what is compared with the ref, and the clone is left as it was', async () => {
  const clone = makeClone();
  writeFileSync(join(clone.root, 'slower.txt'), '1.25');
  writeFileSync(join(clone.root, 'new-file.txt'), 'untracked');
  const status = git(clone.root, 'status', '--porcelain');
  const lines: string[] = [];
  const done = await refs(clone, 'main', 4, createInterrupts(), (line) => lines.push(line));
  assert.equal(done.interrupted, false);
  assert.match(done.candidateName, /^[0-9a-f]{12} with uncommitted changes$/);
  assert.equal(git(clone.root, 'status', '--porcelain'), status);
  assert.equal(git(clone.root, 'stash', 'list'), '');
  assertClean(clone);
  const [base, candidate] = [readRuns([done.baseDir]), readRuns([done.candidateDir])];
  assert.deepEqual([base.length, candidate.length], [4, 4]);
  const comparison = compareSides({ name: 'base', records: base }, { name: 'candidate', records: candidate }, { seed: 1, alpha: 0.5 });
  assert.equal(comparison.metrics.find(({ key }) => key.name === 'sampling_sps')?.verdict, 'regressed');
  assert.equal(lines.filter((line) => line.startsWith('run ')).length, 8);
});

test('what a step of each build costs is counted and compared exactly; a program that cannot count is told of', async () => {
  const clone = makeClone();
  writeFileSync(join(clone.root, 'messages.txt'), '0.5');
  const worse = await refs(clone, 'main', 1);
  assert.deepEqual(
    [worse.baseDir, worse.candidateDir].map((dir) => readCounts([dir])),
    [[{ name: 'messages_per_million_steps', value: 0 }], [{ name: 'messages_per_million_steps', value: 0.5 }]],
  );
  const side = (name: string, dir: string) => ({ name, records: readRuns([dir]), counts: readCounts([dir]) });
  const comparison = compareSides(side('base', worse.baseDir), side('candidate', worse.candidateDir), { seed: 1 });
  assert.equal(comparison.metrics.find(({ key }) => key.name === 'messages_per_million_steps')?.verdict, 'regressed');
  assert.equal(comparison.exitCode, 6);

  rmSync(join(clone.root, 'bench.mjs'));
  rmSync(join(clone.work, 'out'), { recursive: true });
  const lines: string[] = [];
  const without = await refs(clone, 'main', 1, createInterrupts(), (line) => lines.push(line));
  assert.deepEqual(readCounts([without.candidateDir]), []);
  assert.match(lines.join('\n'), /candidate \(current tree\) does not count what a step costs/);
  const lost = compareSides(side('base', without.baseDir), side('candidate', without.candidateDir), { seed: 1 });
  assert.equal(lost.metrics.find(({ key }) => key.name === 'messages_per_million_steps')?.verdict, 'missing');
});

test('packages are installed where the lockfiles differ', async () => {
  const clone = makeClone();
  // A package of the tree itself, so that nothing is fetched: what npm ci puts into node_modules is what tells.
  mkdirSync(join(clone.root, 'compiler', 'bin'), { recursive: true });
  writeFileSync(join(clone.root, 'compiler', 'package.json'), '{"name":"typescript","version":"1.0.0"}');
  writeFileSync(join(clone.root, 'compiler', 'bin', 'tsc'), `${COMPILER}require('node:fs').writeFileSync('messages.txt', '7');`);
  const dependencies = { typescript: 'file:compiler' };
  writeFileSync(join(clone.root, 'package.json'), JSON.stringify({ name: 'tiny', version: '1.0.0', type: 'module', dependencies }));
  writeFileSync(
    join(clone.root, 'package-lock.json'),
    JSON.stringify({
      name: 'tiny',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'tiny', version: '1.0.0', dependencies },
        compiler: { name: 'typescript', version: '1.0.0' },
        'node_modules/typescript': { resolved: 'compiler', link: true },
      },
    }),
  );
  git(clone.root, 'add', '--all');
  git(clone.root, 'commit', '--quiet', '-m', 'a compiler of its own');
  // The clone's own node_modules fit the tree as it is, and no longer the ref.
  writeFileSync(join(clone.root, 'package-lock.json'), '{"lockfileVersion":3}');
  const done = await refs(clone, 'main', 1);
  const counted = [done.baseDir, done.candidateDir].map((dir) => readCounts([dir])[0]?.value);
  assert.deepEqual(counted, [7, 0], 'the ref was compiled by the compiler of its own lockfile, the tree by the linked one');
  assert.deepEqual([readRuns([done.baseDir]).length, readRuns([done.candidateDir]).length], [1, 1]);
  assertClean(clone);
  assert.equal(existsSync(join(clone.root, 'node_modules', '.package-lock.json')), false, "the clone's own packages are as they were");
});

test('a ref that is not there is refused before anything is made', async () => {
  const clone = makeClone();
  for (const ref of ['nowhere', '--all', '--since=yesterday', 'main:slower.txt']) {
    await assert.rejects(refs(clone, ref), (error: unknown) => error instanceof EnvladderError && /no such commit/.test(error.message));
  }
  assertClean(clone);
  assert.equal(existsSync(join(clone.work, 'out')), false);
});

test('a tree that does not build ends the comparison with the step and its own words', async () => {
  const clone = makeClone();
  writeFileSync(join(clone.root, 'native', 'build.mjs'), 'console.error("no compiler here"); process.exitCode = 1;');
  await assert.rejects(
    refs(clone, 'main'),
    (error: unknown) =>
      error instanceof EnvladderError && /candidate .*does not build: .*native\/build\.mjs.*\nno compiler here/s.test(error.message),
  );
  assertClean(clone);
});

test('a program that cannot run the plan ends the comparison with what it said', async () => {
  const clone = makeClone();
  writeFileSync(join(clone.root, 'exit.txt'), '3');
  await assert.rejects(
    refs(clone, 'main'),
    (error: unknown) =>
      error instanceof EnvladderError && error.code === 'preflight' && /exit code 3.*it would not run/s.test(error.message),
  );
  assertClean(clone);
});

test('an interrupt between runs ends the comparison and cleans up', async () => {
  const clone = makeClone();
  const interrupts = createInterrupts();
  const done = await refs(clone, 'main', 4, interrupts, (line) => {
    if (line.startsWith('run 3 ')) interrupts.interrupt('SIGINT');
  });
  assert.equal(done.interrupted, true);
  assertClean(clone);
});

test('worktrees of a comparison that was killed are swept by the next, those of a live one are not', async () => {
  const clone = makeClone();
  const dead = join(clone.temp, 'envladder-compare-4194304999-abc', 'base');
  const live = join(clone.temp, `envladder-compare-${process.pid}-abc`, 'base');
  for (const path of [dead, live]) git(clone.root, 'worktree', 'add', '--quiet', '--detach', path, 'main');
  await refs(clone, 'main', 1);
  assert.deepEqual([existsSync(dead), existsSync(live)], [false, true]);
});

test('a folder that holds something already is refused', async () => {
  const clone = makeClone();
  mkdirSync(join(clone.work, 'out'));
  writeFileSync(join(clone.work, 'out', 'old'), '');
  await assert.rejects(refs(clone, 'main'), (error: unknown) => error instanceof EnvladderError && error.code === 'run-folder');
  assertClean(clone);
});
