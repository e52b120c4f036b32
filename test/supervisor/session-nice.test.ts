// Goal: a nice value reaches the process and, where the kernel shares cores by session, its session: else it would mean nothing there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { KERNEL } from '../../harness/supervisor/scheduling.js';
import { setSessionNice } from '../../harness/supervisor/session-nice.js';
import { loadNative } from '../../native/index.js';

const NO_AUTOGROUPS = !existsSync('/proc/self/autogroup') && 'SKIPPED(this kernel has no autogroups)';

test('a nice value is given to the process and to the session it leads', { timeout: 30_000, skip: NO_AUTOGROUPS }, async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
  const gone = once(child, 'exit');
  try {
    const pid = child.pid as number;
    assert.equal(KERNEL.setNice(pid, 7), 0);
    assert.deepEqual(loadNative().getNice(pid), { nice: 7 });
    assert.match(readFileSync(`/proc/${pid}/autogroup`, 'utf8'), /nice 7$/m);
    assert.doesNotMatch(readFileSync('/proc/self/autogroup', 'utf8'), /nice 7$/m, 'our own session was changed');
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
});

test('a process that is gone is left alone', () => {
  setSessionNice(2 ** 22, 5);
});
