// Affinity, nice and scheduling policy of a real child with several threads.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { after, before, test } from 'node:test';
import { loadNative, SCHEDULING_POLICIES } from '../../native/index.js';

const { EINVAL, ESRCH, EPERM, EACCES } = constants.errno;
const native = loadNative();
/** The kernel ends pids at 2^22. */
const NOBODY = 2 ** 22 + 1;
/** Two JavaScript threads, beside those that node has anyway. */
const PROGRAM = `new (require('node:worker_threads').Worker)('setInterval(() => 0, 1e9)', { eval: true }).on('online', () => process.send(1))`;
/** In /proc/PID/task/TID/stat, counted from 0. */
const FIELD = { nice: 18, policy: 40, priority: 39 } as const;

let child: ChildProcess;
let pid = 0;

before(async () => {
  child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  pid = child.pid as number;
});

after(async () => {
  child.kill('SIGKILL');
  await once(child, 'exit');
});

/** A field of /proc/PID/task/TID/stat for every thread, counted from 0. */
function ofThreads(field: keyof typeof FIELD): number[] {
  return readdirSync(`/proc/${pid}/task`).map((tid) => {
    const stat = readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8');
    // The name may hold spaces; fields are counted from behind it (state is field 2).
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[FIELD[field] - 2]);
  });
}

const allAre = (field: keyof typeof FIELD, value: number) => {
  const found = ofThreads(field);
  assert.ok(found.length > 4, `${found.length} threads`);
  assert.deepEqual(found, new Array(found.length).fill(value));
};

test('affinity goes to every thread of a process and is read back', { timeout: 20_000 }, () => {
  // Goal: one core, then all it may have; a core that is not there and an empty list are refused.
  const all = native.getAffinity(pid) as number[];
  assert.ok(Array.isArray(all) && all.length > 0);
  const one = all.at(-1) as number;
  assert.equal(native.setAffinity(pid, [one]), 0);
  assert.deepEqual(native.getAffinity(pid), [one]);
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8');
    assert.match(status, new RegExp(`^Cpus_allowed_list:\\s+${one}$`, 'm'));
  }
  assert.equal(native.setAffinity(pid, []), -EINVAL);
  assert.equal(native.setAffinity(pid, [4_000]), -EINVAL);
  assert.equal(native.setAffinity(pid, [1_000_000]), -EINVAL);
  assert.equal(native.setAffinity(pid, all), 0);
  assert.deepEqual(native.getAffinity(pid), all);
});

test('nice goes to every thread of a process and is read back', { timeout: 20_000 }, () => {
  // Goal: a higher value always works; a lower one works or says why not, and nothing is half done.
  assert.deepEqual(native.getNice(pid), { nice: 0 });
  assert.equal(native.setNice(pid, 5), 0);
  assert.deepEqual(native.getNice(pid), { nice: 5 });
  allAre('nice', 5);
  const lowered = native.setNice(pid, -3);
  assert.ok(lowered === 0 || lowered === -EACCES || lowered === -EPERM, `setNice says ${lowered}`);
  allAre('nice', lowered === 0 ? -3 : 5);
  assert.deepEqual(native.getNice(pid), { nice: lowered === 0 ? -3 : 5 });
});

test('the scheduling policy goes to every thread, or the refusal is told', { timeout: 20_000 }, () => {
  // Goal: batch always works; FIFO where allowed, else EPERM and everything as before; impossible ones are EINVAL.
  assert.deepEqual(native.getScheduler(pid), { policy: 'other', priority: 0 });
  assert.equal(native.setScheduler(pid, 'batch', 0), 0);
  assert.deepEqual(native.getScheduler(pid), { policy: 'batch', priority: 0 });
  allAre('policy', 3);
  const fifo = native.setScheduler(pid, 'fifo', 1);
  assert.ok(fifo === 0 || fifo === -EPERM, `setScheduler says ${fifo}`);
  assert.deepEqual(native.getScheduler(pid), fifo === 0 ? { policy: 'fifo', priority: 1 } : { policy: 'batch', priority: 0 });
  allAre('policy', fifo === 0 ? 1 : 3);
  allAre('priority', fifo === 0 ? 1 : 0);
  assert.equal(native.setScheduler(pid, 'other', 0), 0);
  allAre('policy', 0);
  assert.equal(native.setScheduler(pid, 'fifo', 100), -EINVAL);
  assert.equal(native.setScheduler(pid, 'deadline' as 'fifo', 1), -EINVAL);
  assert.deepEqual(SCHEDULING_POLICIES.length, 5);
});

test('a process that is not there is ESRCH everywhere', () => {
  // Goal: a supervisor that is late by one death gets an answer, not an exception.
  assert.equal(native.setAffinity(NOBODY, [0]), -ESRCH);
  assert.equal(native.getAffinity(NOBODY), -ESRCH);
  assert.equal(native.setNice(NOBODY, 1), -ESRCH);
  assert.equal(native.getNice(NOBODY), -ESRCH);
  assert.equal(native.setScheduler(NOBODY, 'batch', 0), -ESRCH);
  assert.equal(native.getScheduler(NOBODY), -ESRCH);
});
