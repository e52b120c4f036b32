// Goal: workers have cgroups where the machine lets them, runs without where it does not, and no run leaves or takes what is not its own.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { openSeatCgroups, type SeatCgroups } from '../../harness/supervisor/cgroup.js';
import { cgroupName, isOwnerDead, startTicks } from '../../harness/supervisor/cgroup-name.js';
import { cgroupFolderOf, findCgroupPlace } from '../../harness/supervisor/cgroup-place.js';
import { parsePressure, readPressure } from '../../harness/supervisor/pressure.js';
import { until } from '../fixtures/until.js';

const FILES = ['cgroup.procs', 'cgroup.freeze', 'cgroup.kill', 'cgroup.events', 'cgroup.type', 'cgroup.subtree_control'];
const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

interface Tree {
  readonly root: string;
  readonly folder: string;
  /** The kernel's part: a new folder comes with its files. */
  readonly makeFolder: (path: string) => void;
  readonly removeFolder: (path: string) => void;
}

const MOUNTS = {
  v2: '30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
  hybrid: '40 1 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n41 1 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n',
  v1: '40 1 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
};

function tree(mounts: string, own: string, folder: string, controllers: string): Tree {
  const root = mkdtempSync(join(tmpdir(), 'cgroup-'));
  trees.push(root);
  mkdirSync(join(root, 'proc/self/ns'), { recursive: true });
  symlinkSync('pid:[4026531836]', join(root, 'proc/self/ns/pid'));
  writeFileSync(join(root, 'proc/self/cgroup'), own);
  writeFileSync(join(root, 'proc/self/mountinfo'), mounts);
  const path = join(root, folder);
  mkdirSync(path, { recursive: true });
  const fill = (at: string): void => {
    for (const name of FILES) writeFileSync(join(at, name), '');
    writeFileSync(join(at, 'cgroup.controllers'), controllers);
    if (controllers.includes('memory')) {
      writeFileSync(join(at, 'memory.high'), 'max');
      writeFileSync(join(at, 'memory.max'), 'max');
      writeFileSync(join(at, 'memory.events'), 'low 0\noom 2\noom_kill 1\n');
    }
    if (controllers.includes('cpu')) {
      writeFileSync(join(at, 'cpu.max'), 'max 100000');
      writeFileSync(join(at, 'cpu.stat'), 'usage_usec 5000\nnr_periods 10\nnr_throttled 7\n');
    }
  };
  fill(path);
  return {
    root,
    folder: path,
    makeFolder: (at) => {
      mkdirSync(at);
      fill(at);
    },
    // rmdir of the kernel: the files go with the folder, a folder with folders in it stays.
    removeFolder: (at) => {
      if (readdirSync(at, { withFileTypes: true }).some((entry) => entry.isDirectory())) throw new Error('EBUSY');
      rmSync(at, { recursive: true });
    },
  };
}

function addProcess(root: string, pid: number, ticks: number): void {
  mkdirSync(join(root, `proc/${pid}`), { recursive: true });
  writeFileSync(join(root, `proc/${pid}/stat`), `${pid} (a (b) c) S ${Array.from({ length: 18 }, () => 0).join(' ')} ${ticks} 0 0\n`);
}

const open = (at: Tree, runId = 'r1'): SeatCgroups => openSeatCgroups({ runId, pid: 100, ...at });
const folders = (at: string): string[] =>
  readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
const text = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

describe('the place of cgroups', () => {
  it('is the folder of this process on pure and hybrid mounts, also when a container sees a part of the hierarchy', () => {
    const pure = tree(MOUNTS.v2, '0::/user.slice/run-1.scope\n', 'sys/fs/cgroup/user.slice/run-1.scope', 'cpu memory');
    assert.deepEqual(findCgroupPlace(pure.root), { folder: pure.folder, controllers: ['cpu', 'memory'], isRoot: false });
    // Another process of the same machine, as the rows of the fault matrix look for a worker's.
    mkdirSync(join(pure.root, 'proc/77'));
    writeFileSync(join(pure.root, 'proc/77/cgroup'), '0::/elsewhere/worker-3\n');
    assert.equal(cgroupFolderOf(77, pure.root)?.folder, join(pure.root, 'sys/fs/cgroup/elsewhere/worker-3'));
    assert.equal(cgroupFolderOf(78, pure.root), null, 'it is gone');
    const hybrid = tree(MOUNTS.hybrid, '4:memory:/x\n0::/\n', 'sys/fs/cgroup/unified', '');
    rmSync(join(hybrid.folder, 'cgroup.type'));
    assert.deepEqual(findCgroupPlace(hybrid.root), { folder: `${hybrid.folder}/`, controllers: [], isRoot: true });
    const part = tree('30 1 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n', '0::/docker/ab/sub\n', 'sys/fs/cgroup/sub', 'cpu');
    assert.equal((findCgroupPlace(part.root) as { folder: string }).folder, part.folder);
  });

  it('is missing with a reason under version 1 and outside the visible tree', () => {
    assert.match(
      (findCgroupPlace(tree(MOUNTS.v1, '4:memory:/x\n', 'sys/fs/cgroup/memory', '').root) as { problem: string }).problem,
      /no cgroup v2/,
    );
    const gone = tree(MOUNTS.v2, '0::/elsewhere\n', 'sys/fs/cgroup', '');
    assert.match((findCgroupPlace(gone.root) as { problem: string }).problem, /not visible/);
  });
});

describe('cgroups of a run', () => {
  it('are one folder a process with every power, and gone after close', () => {
    const at = tree(MOUNTS.v2, '0::/\n', 'sys/fs/cgroup', 'cpu memory');
    addProcess(at.root, 100, 55);
    const groups = open(at);
    assert.equal(groups.degraded, null);
    const seat = groups.seat(3);
    assert.ok(seat !== null && seat === groups.seat(3));
    assert.match(seat.folder, /\/envladder-r1-4026531836-100-55\/worker-3$/);
    assert.deepEqual(seat.limits, { freeze: true, kill: true, cpu: true, memory: true });
    assert.ok(seat.enter(4711) && seat.freeze(true));
    assert.deepEqual([text(seat.folder, 'cgroup.procs'), text(seat.folder, 'cgroup.freeze')], ['4711', '1']);
    assert.equal(seat.limit({ cpuShare: 0.01, memoryHighBytes: 512 * 2 ** 20 }), true);
    assert.deepEqual([text(seat.folder, 'cpu.max'), text(seat.folder, 'memory.high').trim()], ['1000 100000', '536870912']);
    assert.deepEqual([seat.oomKills(), seat.throttled(), seat.read().cpuUsageUs], [1, 7, 5000]);
    groups.close();
    assert.deepEqual(folders(at.folder), []);
  });

  it('say in one sentence which controllers are missing, and work without them', () => {
    const at = tree(MOUNTS.hybrid, '0::/\n', 'sys/fs/cgroup/unified', '');
    const groups = open(at);
    assert.match(groups.degraded ?? '', /^the cpu controller, the memory controller are not to be had/);
    const seat = groups.seat(0);
    assert.deepEqual([seat?.limit({ cpuShare: 0.01 }), seat?.limit(null), seat?.freeze(true), seat?.oomKills()], [false, true, true, 0]);
    groups.close();
  });

  it('are none where there is no version 2 or nothing may be made, with the reason', () => {
    const v1 = open(tree(MOUNTS.v1, '4:memory:/x\n', 'sys/fs/cgroup/memory', ''));
    assert.deepEqual([v1.seat(0), v1.folder], [null, null]);
    assert.match(v1.degraded ?? '', /no cgroup v2.*neither frozen nor limited/);
    v1.close();
    const refusing = tree(MOUNTS.v2, '0::/\n', 'sys/fs/cgroup', 'cpu memory');
    const readOnly = openSeatCgroups({
      runId: 'r1',
      root: refusing.root,
      makeFolder: () => {
        throw new Error('EROFS: read-only file system');
      },
    });
    assert.match(readOnly.degraded ?? '', /cannot be made.*read-only file system/);
    assert.equal(readOnly.seat(0), null);
  });

  it('of dead runs are cleared at start, those of live runs, other pid namespaces and strangers are left', () => {
    const at = tree(MOUNTS.v2, '0::/\n', 'sys/fs/cgroup', 'cpu memory');
    addProcess(at.root, 100, 55);
    addProcess(at.root, 200, 66);
    addProcess(at.root, 300, 99);
    const keep = ['envladder-live-4026531836-200-66', 'envladder-other-1-77-1', 'envladder-odd', 'system.slice'];
    const dead = ['envladder-gone-4026531836-250-1', 'envladder-reused-4026531836-300-98'];
    for (const name of [...keep, ...dead]) {
      at.makeFolder(join(at.folder, name));
      at.makeFolder(join(at.folder, name, 'worker-0'));
    }
    open(at).close();
    assert.deepEqual(folders(at.folder).sort(), [...keep].sort());
  });

  it('are cleared without a process that is in them being this one', () => {
    // Goal: a supervisor that moved into its own folder does not kill itself when it closes.
    const at = tree(MOUNTS.v2, '0::/\n', 'sys/fs/cgroup', 'cpu memory');
    const groups = open(at);
    const self = join(groups.folder ?? '', 'supervisor');
    writeFileSync(join(self, 'cgroup.procs'), `${process.pid}\n`);
    groups.close();
    assert.equal(text(self, 'cgroup.kill'), '');
  });
});

describe('proof of death', () => {
  it('tells this process from one that had its pid before', () => {
    const name = cgroupName('a-b-c', process.pid);
    assert.equal(isOwnerDead(name), false);
    assert.equal(isOwnerDead(name.replace(/\d+$/, (ticks) => String(Number(ticks) - 1))), true);
    assert.equal(startTicks(2 ** 30), null);
  });
});

describe('pressure', () => {
  it('is read from a pressure file, and null from anything else', () => {
    const some = 'some avg10=20.71 avg60=6.92 avg300=8.12 total=5901267830\n';
    assert.deepEqual(parsePressure(`${some}full avg10=0.00 avg60=1.50 avg300=0.00 total=12\n`), {
      some: { avg10: 20.71, avg60: 6.92, avg300: 8.12, totalUs: 5901267830 },
      full: { avg10: 0, avg60: 1.5, avg300: 0, totalUs: 12 },
    });
    assert.equal(parsePressure(some)?.full, null);
    for (const bad of ['', 'some', 'some avg10=x avg60=0 avg300=0 total=1\n', 'full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n']) {
      assert.equal(parsePressure(bad), null);
    }
    assert.deepEqual(readPressure(null, '/nowhere'), { cpu: null, memory: null, io: null });
  });
});

describe('on this machine', () => {
  const place = findCgroupPlace();
  const why = 'problem' in place ? place.problem : process.getuid?.() === 0 ? undefined : 'needs a delegated cgroup';

  it('a group freezes, thaws and kills its processes, and leaves no folder', { skip: why, timeout: 20_000 }, async () => {
    const groups = openSeatCgroups({ runId: `test-${process.pid}` });
    const children: ChildProcess[] = [];
    try {
      const seat = groups.seat(0);
      if (seat === null) assert.fail(groups.degraded ?? 'no group');
      // It counts on stdout for as long as it runs.
      const child = spawn(process.execPath, ['-e', 'setInterval(() => process.stdout.write("."), 5)'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      let beats = 0;
      child.stdout?.on('data', (data: Buffer) => (beats += data.length));
      await until(() => beats > 0);
      assert.ok(seat.enter(child.pid ?? 0));
      assert.ok(seat.freeze(true));
      await until(() => seat.frozen());
      const still = await standsStill(() => beats);
      assert.ok(still, 'frozen, but it still writes');
      assert.ok(seat.freeze(false));
      const frozenAt = beats;
      await until(() => beats > frozenAt);
      assert.ok(seat.freeze(true));
      const exit = once(child, 'exit');
      assert.ok(seat.kill());
      assert.equal((await exit)[1], 'SIGKILL');
      assert.equal(seat.enter(child.pid ?? 0), false);
    } finally {
      for (const child of children) child.kill('SIGKILL');
      groups.close();
    }
    assert.equal(existsSync(groups.folder ?? ''), false);
  });
});

/** True when the count comes to rest: twenty looks in a row, over twenty beats of the writer, see the same. */
async function standsStill(count: () => number): Promise<boolean> {
  let same = 0;
  let last = count();
  for (let look = 0; look < 200 && same < 20; look++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    same = count() === last ? same + 1 : 0;
    last = count();
  }
  return same >= 20;
}
