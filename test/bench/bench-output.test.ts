import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Row } from '../../harness/bench/bench.js';
import { skippedRow } from '../../harness/bench/bench.js';
import { chooseBenches, parseBenchArguments } from '../../harness/bench/bench-arguments.js';
import { toReport } from '../../harness/bench/bench-json.js';
import { formatNumber, renderTable } from '../../harness/bench/bench-table.js';
import { parseOsName } from '../../harness/bench/machine-facts.js';

const main = join(import.meta.dirname, '../../harness/bench/main.ts');
const RESULT_KEYS = ['name', 'unit', 'value', 'low', 'high', 'runs', 'bar', 'meets'];
const MACHINE_KEYS = ['cores', 'cpu_model', 'hostname_hash', 'kernel', 'libc', 'memory_bytes', 'node', 'os'];
const machine = {
  hostname_hash: 'abc',
  cpu_model: 'Some CPU',
  cores: 2,
  memory_bytes: 2 ** 34,
  kernel: '6.1',
  os: 'Debian',
  node: 'v20.20.2',
  libc: 'glibc 2.36',
};
const rows: readonly Row[] = [
  { name: 'noop_7000_sps', estimate: { value: 2_900_000, low: 2_800_000, high: 3_100_000, runs: 5 }, foreignCores: 0.12, note: '' },
  { name: 'framework_ns_per_step', estimate: { value: 200, low: 190, high: 210, runs: 5 }, foreignCores: 0.05, note: '' },
  skippedRow('ppo_cartpole_1024_sps_tfjs_node', 'tfjs-node is not built'),
];

function runMain(...argv: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['--import', 'tsx', main, ...argv], { encoding: 'utf8', timeout: 60_000 });
}

test('--json prints exactly machine and results in the promised shape', { timeout: 90_000 }, () => {
  // Goal: a gate can parse stdout as it is, names and keys included.
  const { status, stdout } = runMain('--quick', '--json', '--only', 'seed_reseat_ns');
  assert.equal(status, 0);
  const report = JSON.parse(stdout) as { machine: object; results: Record<string, unknown>[] };
  assert.deepEqual(Object.keys(report), ['machine', 'results']);
  assert.deepEqual(Object.keys(report.machine).sort(), MACHINE_KEYS);
  assert.equal(report.results.length, 1);
  const [result] = report.results;
  assert.deepEqual(Object.keys(result ?? {}), RESULT_KEYS);
  assert.equal(result?.name, 'seed_reseat_ns');
  assert.equal(result?.unit, 'ns');
  for (const key of ['value', 'low', 'high']) assert.ok((result?.[key] as number) > 0, key);
});

test('a row that was not measured keeps its place with nulls', () => {
  // Goal: "not built here" is neither a pass, nor a failure, nor absent.
  const [slow, fast, skipped] = toReport(machine, rows).results;
  assert.deepEqual([slow?.meets, fast?.meets, skipped?.meets], [false, true, null]);
  assert.deepEqual(skipped, {
    name: 'ppo_cartpole_1024_sps_tfjs_node',
    unit: 'steps/s',
    value: null,
    low: null,
    high: null,
    runs: 0,
    bar: 60_000,
    meets: null,
  });
});

test('the table names the machine, the bar, the verdict and the foreign load', () => {
  // Goal: a pasted table can be judged without the command that made it.
  const table = renderTable(machine, rows);
  assert.match(table, /^2 x Some CPU, 16\.0 GiB, Debian, Linux 6\.1, Node v20\.20\.2$/m);
  assert.match(table, /^noop_7000_sps +2,900,000 +2,800,000 \.\. 3,100,000 +steps\/s +5 +>= 3,000,000 +NO +0\.12$/m);
  assert.match(table, /^framework_ns_per_step +200 +190 \.\. 210 +ns +5 +<= 250 +yes +0\.05$/m);
  assert.match(table, /^ppo_cartpole_1024_sps_tfjs_node +- +steps\/s +>= 60,000 +not run +tfjs-node is not built$/m);
});

test('numbers keep four digits', () => {
  // Goal: no figure claims more precision than its windows have.
  assert.deepEqual([3_412_345, 41.2678, 0.53124, 1000, 999.96].map(formatNumber), ['3,412,000', '41.27', '0.5312', '1,000', '1,000']);
});

test('unknown names and flags are usage errors that name what is known', { timeout: 90_000 }, () => {
  // Goal: a typo costs a second and exit code 2, not a run without the wanted row.
  assert.throws(() => parseBenchArguments(['--only', 'nope']), /unknown row 'nope', known: .*noop_7000_sps/);
  assert.throws(() => parseBenchArguments(['--only', 'nope_*']), /unknown row 'nope_\*'/);
  assert.ok(parseBenchArguments(['--only', 'group_*']).only.every((name) => name.startsWith('group_')));
  assert.throws(() => parseBenchArguments(['--suite', 'nope']), /unknown suite 'nope', known: micro, process, ppo, learning/);
  assert.throws(() => parseBenchArguments(['--patience', 'soon']), /--patience soon: must be a number of seconds/);
  assert.throws(() => parseBenchArguments(['--frobnicate']), /frobnicate/);
  const { status, stdout, stderr } = runMain('--only', 'nope');
  assert.equal(status, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /unknown row 'nope'/);
});

test('learning runs only when it is asked for', () => {
  // Goal: `npm run bench` stays within minutes; a row of the learning suite can still be named.
  const bench = (suite: 'micro' | 'learning', name: 'seed_reseat_ns' | 'learn_cartpole_475_seeds') => ({
    suite,
    rows: [name],
    run: () => Promise.resolve([]),
  });
  const all = [bench('micro', 'seed_reseat_ns'), bench('learning', 'learn_cartpole_475_seeds')] as const;
  const chosen = (...argv: string[]) => chooseBenches(all, parseBenchArguments(argv)).map(({ suite }) => suite);
  assert.deepEqual(chosen(), ['micro']);
  assert.deepEqual(chosen('--suite', 'learning'), ['learning']);
  assert.deepEqual(chosen('--only', 'learn_cartpole_475_seeds'), ['learning']);
  assert.deepEqual(chosen('--suite', 'micro', '--only', 'learn_cartpole_475_seeds'), []);
});

test('the OS name is read from os-release and never missing', () => {
  // Goal: the machine line works in containers without that file.
  assert.equal(parseOsName('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'), 'Debian GNU/Linux 12 (bookworm)');
  assert.equal(parseOsName(''), 'Linux');
});
