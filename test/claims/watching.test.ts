// Goal: the claims about watching workers and about connections to Redis live through real failures on both sides, and what follows from the
// mechanism alone (who is killed, what is noticed) comes out on any machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORKERS } from '../../harness/claims/rigs/heartbeat-crew.js';
import { fifoHang } from '../../harness/claims/rows/fifo-hang.js';
import { heartbeat3 } from '../../harness/claims/rows/heartbeat-3.js';
import { keepalive0 } from '../../harness/claims/rows/keepalive-0.js';
import { pipeline5ms } from '../../harness/claims/rows/pipeline-5ms.js';
import { sigusr1 } from '../../harness/claims/rows/sigusr1.js';
import { runRow } from './run-row.js';

const WATCHDOG = { timeout: 420_000 };

test('SIGUSR1 kills what has no handler, opens a debugger, and does not find a step that waits', WATCHDOG, async () => {
  const { values } = await runRow(sigusr1, 1);
  assert.deepEqual(values('killed', 'sigusr1'), [1]);
  assert.deepEqual(values('inspectors', 'sigusr1'), [1]);
  assert.deepEqual(values('waiting-noticed', 'sigusr1'), [0]);
  assert.deepEqual(values('stuck-noticed', 'sigusr1'), [0.5]);
  assert.deepEqual(values('killed', 'progress'), [0]);
  assert.deepEqual(values('inspectors', 'progress'), [0]);
  assert.deepEqual(values('stuck-noticed', 'progress'), [1]);
});

test('heartbeats take a Redis that is away for the death of every worker; progress kills nobody that lives', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(heartbeat3, 1);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  assert.deepEqual(values('missed', 'account'), [0]);
  assert.deepEqual(values('missed', 'progress'), [0]);
  assert.deepEqual(values('false-kills-outage', 'progress'), [0]);
  assert.deepEqual(values('false-kills-pause', 'progress'), [0]);
  assert.ok((values('false-kills-outage', 'account')[0] as number) >= WORKERS);
  assert.ok((values('false-kills-pause', 'account')[0] as number) >= WORKERS);
  // 90 s divided by 45 is 2 s, less the age of the newest beat.
  for (const failure of ['killed', 'stopped', 'stuck']) assert.ok((values(`detect-${failure}-s`, 'account')[0] as number) > 1, failure);
});

test('every heartbeat of every side is acknowledged, and a pipeline bundles them', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(pipeline5ms);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  for (const side of ['single', 'unawaited', 'pipeline', 'packed']) {
    assert.ok(
      values('jitter-ms', side).every((ms) => ms >= 0),
      side,
    );
    assert.ok(
      values('round-ms', side).every((ms) => ms > 0),
      side,
    );
  }
});

test('a router that forgets loses the bare connection alone, and the loopback loses none', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(keepalive0, 1);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  assert.deepEqual(values('lost-behind', 'bare'), [1]);
  assert.deepEqual(values('lost-behind', 'keepalive'), [0]);
  assert.deepEqual(values('lost-behind', 'client'), [0]);
  for (const side of ['bare', 'keepalive', 'client']) assert.deepEqual(values('lost-loopback', side), [0], side);
  // Looked at for 5 s: keepalive gives up after 11, a command without an answer is repeated for minutes.
  for (const side of ['bare', 'keepalive']) assert.deepEqual(values('notice-busy-s', side), [5], side);
  assert.ok((values('notice-busy-s', 'client')[0] as number) < 5);
});

test('a crew steps and trains beside other work under every kind of scheduling', WATCHDOG, async (t) => {
  const { entry, values } = await runRow(fifoHang, 1);
  if (entry.state === 'not-testable') return t.skip(`SKIPPED(${entry.reason})`);
  for (const side of ['default', 'nice', 'fifo']) {
    for (const metric of ['trained-sps', 'sampled-sps', 'p99-ms'])
      assert.ok(
        values(metric, side).every((value) => value > 0),
        `${metric} ${side}`,
      );
    assert.ok(
      values('hangs-per-1000', side).every((value) => value >= 0 && value <= 1000),
      side,
    );
  }
});
