// Machines that run out: a disk that fills up under the record, a memory limit below what the plan needs. Both need privileges to build;
// where they are missing the test says so and is skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { markedPids, runCli, startCli } from '../cli/run-cli.js';

const MIB = 2 ** 20;
/** Just above what pre-flight asks of a disk. */
const DISK_MIB = 80;
let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-limits-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

function mountSmallDisk(dir: string): string | null {
  mkdirSync(dir);
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', dir], { encoding: 'utf8' });
  return mount.status === 0 ? null : `no tmpfs can be mounted here: ${mount.stderr || String(mount.error)}`;
}

/** Leaves not a byte. */
function fill(dir: string): void {
  const fd = openSync(join(dir, 'ballast'), 'w');
  try {
    for (let size = MIB; size >= 1; ) {
      try {
        writeSync(fd, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = size >> 1;
      }
    }
  } finally {
    closeSync(fd);
  }
  assert.equal(statfsSync(dir).bavail, 0);
}

describe('a disk that fills up under the record', { timeout: 240_000 }, () => {
  it('does not stop the run; it says so at once and ends with record-lost, exit 4', async (test) => {
    const disk = join(root, 'disk');
    const problem = mountSmallDisk(disk);
    if (problem !== null) return test.skip(problem);
    try {
      const running = startCli(
        ['ladder', '--plan', 'smoke', '--kind', 'cartpole', '--tiers', '8,16', '--seconds', '3', '--out', join(disk, 'run')],
        { cwd: root },
      );
      await running.until('the first tier was live', () => /tier 8: 8 of 8 envs live/.test(running.stderrSoFar()));
      fill(disk);
      const result = await running.ended;
      assert.match(result.stderr, /run\.json could not be written \(.*ENOSPC\); free space .*The run goes on/);
      assert.match(result.stderr, /tier 16: 16 of 16 envs live/, 'the second tier ran on a full disk');
      assert.equal(result.code, 4, result.stderr);
      assert.match(result.stdout, /INVALID/);
      assert.match(result.stdout, /ENOSPC|\d+ (events|lines of metrics) were not written/);
      // Closing the event database frees its journal: the last record may find room again, and then says the same.
      const { run, exit_code } = JSON.parse(readFileSync(join(disk, 'run', 'run.json'), 'utf8')) as RunRecord;
      assert.ok(run.state === 'running' || exit_code === 4, `${run.state} ${exit_code}`);
      assert.deepEqual(markedPids(running.mark), []);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
});

/** A cgroup of version 1 or 2 with a memory limit, or why there is none. */
function makeCgroup(limitBytes: number): { readonly procs: string; readonly remove: () => void } | string {
  for (const [base, file] of [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ] as const) {
    const group = join(base, `envladder-test-${process.pid}`);
    try {
      if (!existsSync(join(base, 'cgroup.procs'))) continue;
      mkdirSync(group);
      writeFileSync(join(group, file), String(limitBytes));
      return { procs: join(group, 'cgroup.procs'), remove: () => rmdirSync(group) };
    } catch {
      if (existsSync(group)) rmdirSync(group);
    }
  }
  return 'no memory cgroup can be made here';
}

describe('a cgroup with less memory than the plan needs', { timeout: 120_000 }, () => {
  it('is refused before anything starts, with needed, found and what to do', async (test) => {
    const group = makeCgroup(256 * MIB);
    if (typeof group === 'string') return test.skip(group);
    try {
      const result = await runCli(['ladder', '--plan', 'default', '--out', join(root, 'refused')], {
        cwd: root,
        shell: `echo $$ > ${group.procs}`,
      });
      assert.equal(result.code, 3, result.stderr);
      assert.match(
        result.stderr,
        /nothing was started\nmemory: needed [\d.]+ [GM]iB, found [\d.]+ MiB \(left in the cgroup\)\n {2}lower --tiers/,
      );
      assert.ok(!existsSync(join(root, 'refused')));
    } finally {
      group.remove();
    }
  });

  it('runs a plan that fits', async (test) => {
    const group = makeCgroup(2048 * MIB);
    if (typeof group === 'string') return test.skip(group);
    try {
      const dir = join(root, 'fits');
      const result = await runCli(
        ['ladder', '--plan', 'smoke', '--learner', 'none', '--kind', 'noop', '--tiers', '4', '--seconds', '0.2', '--out', dir],
        { cwd: root, shell: `echo $$ > ${group.procs}` },
      );
      assert.equal(result.code, 0, result.stderr);
      const record = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunRecord;
      assert.match(record.preflight.find(({ check }) => check === 'memory')?.found ?? '', /^[12]\.\d GiB \(left in the cgroup\)$/);
    } finally {
      group.remove();
    }
  });
});
