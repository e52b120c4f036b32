// Goal: the janitor removes what a dead process left and nothing else: not what lives, is young, open or mapped, has another name or another owner.
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SCRIPTS } from './run-script.js';

const lacking = process.getuid?.() === 0 ? false : 'SKIPPED(the janitor runs as root)';

/** A process id that was used a moment ago and is free. */
const deadPid = (): number => spawnSync('true').pid;
const startOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[19] ?? '';

function janitor(words: readonly string[]): { code: number | null; counts: Record<string, unknown>; lines: string[] } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `. "${SCRIPTS}/lib-shm-janitor.sh"; shm_janitor "$@"`, 'janitor', ...words], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  const lines = stdout.trim().split('\n');
  return {
    code: status,
    counts: status === 0 ? (JSON.parse(lines.pop() ?? '') as Record<string, unknown>) : {},
    lines: [...lines, stderr],
  };
}

describe('the janitor of shared memory', { skip: lacking }, () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'rig-shm-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  function lay(name: string, ageS = 7200): string {
    const path = join(dir, name);
    writeFileSync(path, 'x'.repeat(100));
    const when = Date.now() / 1000 - ageS;
    utimesSync(path, when, when);
    return path;
  }

  it('gives each name its verdict', () => {
    const dead = deadPid();
    lay(`rig-ring-${dead}-12-aa`);
    lay(`rig-ring-${process.pid}-${startOf(process.pid)}-bb`);
    // The number is in use again, by a process that began at another time.
    lay(`rig-ring-${process.pid}-1-cc`);
    lay(`rig-ring-${dead}-12-dd`, 10);
    const fd = openSync(lay(`rig-ring-${dead}-12-ee`), 'r');
    lay('rig-ring');
    lay(`rig-ring-${dead}-12-`);
    lay(`psm_${dead}`);
    const dry = janitor(['--dry-run', '--dir', dir, 'rig-', '3600']);
    const expected = { removed: 2, bytes: 200, live: 1, young: 1, inUse: 1, unnamed: 2, foreign: 1, failed: 0 };
    deepStrictEqual(dry.counts, { dryRun: true, ...expected });
    strictEqual(readdirSync(dir).length, 8, 'a dry run removes nothing');
    deepStrictEqual(janitor(['--dir', dir, 'rig-', '3600']).counts, { dryRun: false, ...expected });
    closeSync(fd);
    const left = readdirSync(dir).sort();
    deepStrictEqual(left.length, 6);
    strictEqual(left.includes(`rig-ring-${dead}-12-aa`) || left.includes(`rig-ring-${process.pid}-1-cc`), false);
    strictEqual(janitor(['--dir', dir, 'rig-', '3600']).counts['removed'], 1, 'closed by its last holder, it goes');
  });

  it('leaves what is mapped though nobody has it open', async (t) => {
    const path = join(dir, `rig-ring-${deadPid()}-7-map`);
    copyFileSync('/bin/sleep', path);
    spawnSync('chmod', ['755', path]);
    utimesSync(path, 1e9, 1e9);
    let child: ChildProcess;
    try {
      child = spawn(path, ['300']);
      await new Promise((resolve, reject) => child.on('spawn', resolve).on('error', reject));
    } catch (error) {
      t.skip(`SKIPPED(nothing can be run from ${dir}: ${(error as Error).message})`);
      return;
    }
    const [device] = [...readFileSync(`/proc/${child.pid}/maps`, 'utf8').matchAll(/^\S+ \S+ \S+ (\S+) \d+ +(\S+)$/gm)].filter(
      (line) => line[2] === path,
    );
    const { counts } = janitor(['--dir', dir, 'rig-', '3600']);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    strictEqual(counts['inUse'], 1, `mapped as ${device?.[0]}`);
    strictEqual(janitor(['--dir', dir, 'rig-', '3600']).counts['removed'], 1);
  });

  it('an empty folder and wrong words', () => {
    strictEqual(janitor(['--dir', dir, 'rig-', '0']).counts['removed'], 0);
    strictEqual(janitor(['--dir', dir, '*', '0']).code, 64);
    strictEqual(janitor(['--dir', dir, 'rig-', 'soon']).code, 64);
    strictEqual(janitor([]).code, 64);
  });
});
