import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { cpuNsSince, parseBusyTicks, parseProcessTimes, processTree, threadCpuNs } from '../../harness/bench/cpu-load.js';

test('busy ticks leave idle and iowait out and count steal', () => {
  // Goal: a waiting disk is not load, a hypervisor that takes the core is.
  const text = 'cpu  100 20 30 9000 800 1 2 40 5 6\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
  assert.equal(parseBusyTicks(text), 100 + 20 + 30 + 1 + 2 + 40);
});

test('process times survive a command name with spaces and brackets', () => {
  // Goal: fields are counted from the last bracket, not from the first space.
  const text = '42 (a (b) c) S 7 42 42 0 -1 4194304 100 0 0 0 11 22 33 44 20 0 1 0 500 1 1';
  assert.deepEqual(parseProcessTimes(text), { parentPid: 7, ticks: 11 + 22 + 33 + 44 });
});

test('the process tree holds grandchildren', { timeout: 20_000 }, async () => {
  // Goal: CPU time of everything a bench starts counts as its own, never as foreign.
  const inner = "process.stdout.write('up');setInterval(()=>{},1000)";
  const outer = `require('node:child_process').spawn(process.execPath,['-e',${JSON.stringify(inner)}],{stdio:'inherit'});setInterval(()=>{},1000)`;
  const child = spawn(process.execPath, ['-e', outer], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const tree = processTree();
    assert.equal(tree[0], process.pid);
    assert.ok(tree.includes(child.pid as number), 'the child');
    assert.ok(tree.length >= 3, 'the grandchild');
    const grandchildren = processTree(child.pid);
    assert.equal(grandchildren.length, 2);
    process.kill(grandchildren[1] as number, 'SIGKILL');
  } finally {
    child.kill('SIGKILL');
  }
});

test('CPU nanoseconds of a process rise while it works', { timeout: 20_000 }, () => {
  // Goal: the per-role cost rows read a live counter (no bound on the time itself).
  const before = threadCpuNs(process.pid);
  const until = performance.now() + 30;
  let spin = 0;
  while (performance.now() < until) spin++;
  assert.ok(spin > 0);
  assert.ok(cpuNsSince(process.pid, before) > 0);
  assert.ok(cpuNsSince(process.pid, new Map([...before, ['1', 9e15]])) > 0, 'a thread that is gone takes nothing away');
  assert.equal(threadCpuNs(2 ** 30).size, 0);
});
