import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_ROWS } from '../../harness/chaos/all-rows.js';
import type { PlantedBug, RowResult } from '../../harness/chaos/chaos-row.js';
import { runRow } from '../../harness/chaos/run-matrix.js';
import { monotonicMs } from '../../harness/supervisor/clock.js';
import type { WorkerChild } from '../../harness/supervisor/crew-ports.js';
import type { ExitStatus } from '../../harness/supervisor/spawn.js';
import { EVERYDAY } from './everyday.js';

async function runWith(number: number, bug: PlantedBug, patience = 1): Promise<RowResult> {
  const row = ALL_ROWS.find((one) => one.row === number);
  assert.ok(row !== undefined);
  return runRow(row, { ...EVERYDAY, patience, bug });
}

/** Calls a worker dead as soon as it was told to end, and never waits for the kernel. */
function deadAtSigterm(child: WorkerChild): WorkerChild {
  let say: (status: ExitStatus) => void = () => undefined;
  let said = false;
  const exit = Promise.race([
    child.exit,
    new Promise<ExitStatus>((resolve) => {
      say = resolve;
    }),
  ]);
  return Object.create(child, {
    exit: { value: exit },
    alive: { get: () => !said && child.alive },
    kill: {
      value: (signal: NodeJS.Signals) => {
        if (said) return;
        child.kill(signal);
        said = true;
        say({ code: null, signal, cause: signal, outputTail: '' });
      },
    },
  }) as WorkerChild;
}

/** Starts every life of a worker under the first epoch. */
function sameEpoch(child: WorkerChild): WorkerChild {
  const send: WorkerChild['channel']['send'] = (message) =>
    child.channel.send(message.type === 'start' ? { ...message, epoch: 0 } : message);
  return Object.create(child, { channel: { value: Object.create(child.channel, { send: { value: send } }) } }) as WorkerChild;
}

describe('the matrix finds a seeded bug', { timeout: 300_000, concurrency: 1 }, () => {
  it('death declared at SIGTERM, without the kernel', async () => {
    // Goal: a stopped worker that was only called dead still holds the memory of its successor.
    const result = await runWith(3, {
      seams: { wrapWorker: deadAtSigterm, cgroups: { degraded: null, folder: null, seat: () => null, close: () => undefined } },
    });
    assert.equal(result.result, 'FAIL');
    assert.equal(result.invariants.I2, false, result.reason);
    assert.match(result.reason, /still holds the segment/);
  });

  it('a restart that does not raise the epoch', async () => {
    // Goal: slots that a new life writes under the old epoch are seen in the control words.
    const result = await runWith(
      1,
      {
        seams: { wrapWorker: sameEpoch },
        wrapMemory: (memory) => ({
          ...memory,
          createSegment: (spec) => Object.create(memory.createSegment(spec), { fence: { value: () => undefined } }),
        }),
      },
      0.3,
    );
    assert.equal(result.result, 'FAIL');
    assert.equal(result.invariants.I2, false, result.reason);
    assert.match(result.reason, /not fenced/);
  });

  it('a heartbeat that a timer makes, whatever the worker does', async () => {
    // Goal: a hung env that nobody finds fails its row.
    const result = await runWith(
      6,
      {
        wrapMemory: (memory) => ({
          ...memory,
          createControl(lines) {
            const control = memory.createControl(lines);
            const progress: typeof control.progress = (line) => {
              const nowMs = monotonicMs();
              const seen = control.progress(line);
              return { ...seen, op: 'idle', envId: -1, loops: seen.loops + Math.floor(nowMs), nativeMs: nowMs, loopMs: nowMs, opMs: nowMs };
            };
            return { ...control, progress };
          },
        }),
      },
      0.25,
    );
    assert.equal(result.result, 'FAIL');
    assert.match(result.reason, /not noticed/);
  });
});
