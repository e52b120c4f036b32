// Goal: `envladder claims` as a user types it: bad input ends at once, a quick run of one claim leaves its three files and prints its rule before its
// figures, an old record renders again, Ctrl-C keeps what is done.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { claimsRecordSchema } from '../../harness/contract/claims-record.js';
import { MADE_RECORD } from '../fixtures/claims-record.js';
import { childPid, markedPids, type Running, runCli, startCli } from './run-cli.js';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-cli-claims-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

function isUp(running: Running, role: 'worker'): boolean {
  try {
    return childPid(running, role) > 0;
  } catch {
    return false;
  }
}

const WATCHDOG = { timeout: 240_000 };
const BAD: readonly { readonly args: readonly string[]; readonly says: RegExp }[] = [
  { args: ['moon'], says: /moon: no such claim; claims are start-42s/ },
  { args: ['--repeats', '2'], says: /--repeats 2: must be a whole number from 3 to 1000/ },
  { args: ['--repeats', 'x'], says: /--repeats x: must be a whole number/ },
  { args: ['--seed', '-1'], says: /--seed -1: must be a whole number/ },
  { args: ['--limit', '0'], says: /--limit 0: must be a number from 0.05/ },
  { args: ['--out', ''], says: /--out: '' names no folder/ },
  { args: ['--render', '/nonexistent'], says: /claims\.json: cannot be read/ },
  { args: ['--render', '.', '--quick'], says: /--render measures nothing/ },
];

for (const { args, says } of BAD)
  test(`claims ${args.join(' ')} is refused`, WATCHDOG, async () => {
    const { code, stderr } = await runCli(['claims', ...args], { cwd: root });
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
    assert.ok(!existsSync(join(root, 'claims')));
  });

test('the list has every claim with its rule', WATCHDOG, async () => {
  const { code, stdout } = await runCli(['claims', '--list', 'totals', 'flip-safe']);
  assert.equal(code, 0);
  assert.match(stdout, /^flip-safe: double buffering[\s\S]*rule \(figure\): held when[\s\S]*^totals: /m);
});

test('a quick run prints the rule first, then the verdict, and leaves three files', WATCHDOG, async () => {
  const out = join(root, 'run');
  const { code, stdout, stderr } = await runCli(['claims', 'mem-18gb', 'gpu-90', '--quick', '--seed', '4', '--out', out]);
  assert.equal(code, 0, stderr);
  assert.ok(stdout.indexOf('rule (figure)') < stdout.indexOf('did not hold'));
  const record = claimsRecordSchema.parse(JSON.parse(readFileSync(join(out, 'claims.json'), 'utf8')));
  assert.deepEqual(
    record.claims.map(({ id }) => id),
    ['mem-18gb', 'gpu-90'],
  );
  assert.equal(record.seed, 4);
  assert.match(readFileSync(join(out, 'claims.html'), 'utf8'), /did not hold/);
  assert.match(readFileSync(join(out, 'claims.md'), 'utf8'), /mem-18gb/);
});

test('--json prints the record and nothing else', WATCHDOG, async () => {
  const { code, stdout } = await runCli(['claims', 'mem-18gb', '--quick', '--json', '--out', join(root, 'json')]);
  assert.equal(code, 0);
  assert.equal(claimsRecordSchema.parse(JSON.parse(stdout)).claims.length, 1);
});

test('--render makes the pages of an old record again', WATCHDOG, async () => {
  const dir = mkdtempSync(join(root, 'old-'));
  writeFileSync(join(dir, 'claims.json'), JSON.stringify(MADE_RECORD));
  const { code, stdout } = await runCli(['claims', '--render', dir]);
  assert.equal(code, 0);
  assert.match(stdout, /6 claims: 1 held, 1 did not hold, 3 not testable here, 1 failed; interrupted/);
  assert.ok(existsSync(join(dir, 'claims.html')));
});

test('Ctrl-C ends with 130, keeps the claim that was done, and leaves no process', WATCHDOG, async () => {
  const out = join(root, 'cut');
  const running = startCli(['claims', 'mem-18gb', 'tier-24pct', '--seed', '4', '--out', out]);
  await running.until('a ladder of the second claim runs', () => isUp(running, 'worker'));
  running.child.kill('SIGINT');
  const { code } = await running.ended;
  assert.equal(code, 130);
  assert.deepEqual(markedPids(running.mark), []);
  const record = claimsRecordSchema.parse(JSON.parse(readFileSync(join(out, 'claims.json'), 'utf8')));
  assert.equal(record.interrupted, true);
  assert.deepEqual(
    record.claims.map(({ id, state }) => [id, state]),
    [
      ['mem-18gb', 'measured'],
      ['tier-24pct', 'cut'],
    ],
  );
});
