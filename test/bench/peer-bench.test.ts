import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lookForVenv } from '../../harness/bench/peers/make-venv.js';
import { asksForPeers, chooseRows, parsePeerArguments } from '../../harness/bench/peers/peer-arguments.js';
import type { PeerReport } from '../../harness/bench/peers/peer-result.js';
import { peerRows } from '../../harness/bench/peers/peer-rows.js';
import { until } from '../fixtures/until.js';

const main = join(import.meta.dirname, '../../harness/bench/main.ts');
/** Real processes, on machines that may be busy. */
const LIMIT = { timeout: 300_000 };
const room = { freeBytes: 20e9, fdLimit: 20_000 };

function runMain(argv: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(process.execPath, ['--import', 'tsx', main, ...argv], {
    encoding: 'utf8',
    timeout: 280_000,
    env: { ...process.env, ...env },
  });
}

test('--peers takes a list, or all without a value; what is unknown is named', () => {
  // Goal: a typo costs a second and exit code 2.
  assert.ok(asksForPeers(['--peers']) && asksForPeers(['--peers=sb3']) && !asksForPeers(['--only', 'peers']));
  assert.deepEqual(parsePeerArguments(['--peers']).peers, ['gymnasium', 'envpool', 'puffer', 'sb3']);
  assert.deepEqual(parsePeerArguments(['--peers', '--quick', '--json']).peers.length, 4);
  assert.deepEqual(parsePeerArguments(['--quick', '--peers', 'puffer,gymnasium']).peers, ['puffer', 'gymnasium']);
  assert.throws(() => parsePeerArguments(['--peers', 'ray']), /unknown peer 'ray', known: gymnasium, envpool, puffer, sb3/);
  assert.throws(() => parsePeerArguments(['--peers=']), /name one of gymnasium/);
  assert.throws(() => parsePeerArguments(['--peers', '--seed', 'x']), /--seed x: must be a whole number/);
  assert.throws(() => parsePeerArguments(['--peers', '--patience', '-1']), /patience/);
  assert.throws(() => parsePeerArguments(['--peers', '--suite', 'micro']), /suite/);
});

test('rows are chosen by name or beginning, each row has envladder first', () => {
  // Goal: every row can be asked for alone, and none leaves out our own side.
  const rows = peerRows(room);
  assert.deepEqual(
    chooseRows(rows, ['start*', 'dict_64']).map(({ name }) => name),
    ['dict_64', 'start_1000', 'start_7000'],
  );
  assert.throws(() => chooseRows(rows, ['nope']), /unknown row 'nope', known: cartpole_64/);
  for (const { name, contenders } of rows) {
    assert.equal(contenders[0]?.peer, 'envladder', name);
    assert.equal(new Set(contenders.map(({ id }) => id)).size, contenders.length, name);
  }
});

test('a bad argument ends with exit code 2, --list runs nothing', LIMIT, () => {
  // Goal: the command line as a user meets it.
  const bad = runMain(['--peers', 'nope']);
  assert.deepEqual([bad.status, bad.stdout], [2, '']);
  assert.match(bad.stderr, /unknown peer 'nope'/);
  const list = runMain(['--peers', '--list']);
  assert.equal(list.status, 0);
  assert.match(list.stdout, /^cartpole_64 +CartPole-v1, 64 envs/m);
  assert.equal(list.stderr, '');
});

test('without Python envladder is measured and every peer is a dash with the reason', LIMIT, () => {
  // Goal: a bare machine gets its own figures and is told what to install.
  const empty = mkdtempSync(join(tmpdir(), 'no-python-'));
  const { status, stdout, stderr } = runMain(['--peers', 'gymnasium,sb3', '--quick', '--json', '--only', 'cartpole_64'], {
    PATH: empty,
    XDG_CACHE_HOME: empty,
  });
  assert.equal(status, 0, stderr);
  const { rows, machine, quick } = JSON.parse(stdout) as PeerReport;
  assert.ok(quick && machine.cores > 0);
  const entries = rows[0]?.entries ?? [];
  assert.ok((entries[0]?.value ?? 0) > 1000);
  assert.ok((entries[0]?.pss_bytes ?? 0) > 1e6);
  const others = entries.slice(1);
  assert.deepEqual([...new Set(others.map(({ peer }) => peer))], ['gymnasium', 'sb3']);
  for (const { value, reason, failed } of others) {
    assert.equal(value, null);
    assert.match(reason ?? '', /no python3 on the PATH .*apt-get install python3-venv/);
    assert.equal(failed, false);
  }
});

test('envladder comes back from all three faults', LIMIT, () => {
  // Goal: our own side of the fault rows is observed on real processes, not stated.
  const { status, stdout, stderr } = runMain(['--peers', 'gymnasium', '--quick', '--json', '--only', 'fault*'], {
    PATH: '',
    XDG_CACHE_HOME: tmpdir(),
  });
  assert.equal(status, 0, stderr);
  const { rows } = JSON.parse(stdout) as PeerReport;
  assert.equal(rows.length, 3);
  for (const { name, entries } of rows) assert.match(entries[0]?.note ?? '', /^recovers\. .*all 8 envs step again/, name);
  assert.match(rows[0]?.entries[0]?.note ?? '', /SIGKILL/);
  assert.match(rows[1]?.entries[0]?.note ?? '', /step of env 3/);
  assert.match(rows[2]?.entries[0]?.note ?? '', /"env 3 /);
});

test('an interrupt ends every driver at once', LIMIT, async () => {
  // Goal: Ctrl-C leaves no stopped process behind.
  const child = spawn(process.execPath, ['--import', 'tsx', main, '--peers', 'gymnasium', '--quick', '--only', 'cartpole_64'], {
    env: { ...process.env, PATH: '', XDG_CACHE_HOME: tmpdir() },
    stdio: 'ignore',
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await until(() => spawnSync('ps', ['--ppid', String(child.pid), '-o', 'args='], { encoding: 'utf8' }).stdout.includes('own-driver'));
  const [driver] = spawnSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], { encoding: 'utf8' })
    .stdout.trim()
    .split(/\s+/);
  child.kill('SIGINT');
  assert.equal(await exited, 130);
  await until(() => spawnSync('ps', ['-p', String(driver)]).status !== 0);
});

const gymnasium = lookForVenv('gymnasium');

test('gymnasium itself: steps, a ratio, and what it does when a worker is killed', {
  ...LIMIT,
  skip: 'reason' in gymnasium ? gymnasium.reason : false,
}, () => {
  // Goal: the driver works with the real package, where its environment was made before.
  const argv = ['--peers', 'gymnasium', '--quick', '--json', '--only', 'cartpole_64,fault_kill,fault_raise'];
  const { status, stdout, stderr } = runMain(argv);
  assert.equal(status, 0, stderr);
  const { rows } = JSON.parse(stdout) as PeerReport;
  const [steps, kill, raise] = rows;
  for (const { label, value, envladder_is: ratio, versions } of steps?.entries.slice(1) ?? []) {
    assert.ok((value ?? 0) > 100, label);
    assert.ok((ratio?.value ?? 0) > 0, label);
    assert.equal(versions.gymnasium, '1.4.0', label);
  }
  const async = (row: PeerReport['rows'][number] | undefined): string =>
    row?.entries.find(({ system }) => system === 'gym-async')?.note ?? '';
  assert.match(async(kill), /^(raises|hangs)\. step: /);
  assert.match(async(raise), /^raises\. step: RuntimeError: the environment broke at step 50/);
});
