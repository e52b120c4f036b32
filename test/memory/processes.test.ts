// Two real processes over one segment: descriptors are inherited or opened, sleepers are woken, buffers outlive close().
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { SegmentSpec } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';

const WORKER = fileURLToPath(new URL('./attached-worker.ts', import.meta.url));
const ROUNDS = 300;

for (const how of ['inherited', 'opened by path'] as const) {
  test(`a child steps through memory that was ${how}, and both sides wake each other`, { timeout: 60_000 }, async () => {
    // Goal: 300 rounds for 50 slots, each observation computed from the action sent, with both sides sleeping on their bells in between.
    const spec: SegmentSpec = {
      runId: 'processes',
      worker: 0,
      blocks: [
        {
          id: 0,
          kind: 'probe',
          firstEnvId: 0,
          slots: 50,
          cells: 2,
          keys: [{ key: 'vector', dtype: 'f32', elements: 4, shape: [4], low: -1e9, high: 1e9 }],
          action: { dtype: 'i32', length: 1 },
          autoreset: 'disabled',
        },
      ],
    };
    const memory = createNativeMemory();
    const control = memory.createControl(1);
    const segment = memory.createSegment(spec);
    segment.allocate(0, 2);
    const reader = memory.reader(
      { batchLimit: 50, outputs: [{ name: 'x', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] }], threads: 1 },
      control,
    );
    reader.add(segment, 0);
    // A process that runs already inherits nothing more: it opens what its parent holds.
    const byPath = how === 'inherited' ? [] : [`/proc/${process.pid}/fd/${segment.fd}`];
    const child = spawn(process.execPath, ['--import', 'tsx', WORKER, JSON.stringify(spec), String(ROUNDS * 50), ...byPath], {
      stdio: ['ignore', 'inherit', 'inherit', how === 'inherited' ? segment.fd : 'ignore', control.fd],
    });
    const exited = once(child, 'exit');
    const frames = new Array<number>(50).fill(0);
    const sent = new Array<number>(50).fill(0);
    let taken = 0;
    while (taken < ROUNDS * 50) {
      const n = reader.collect(50);
      if (n === 0) {
        control.waitFrames(50);
        assert.equal(child.exitCode, null, 'the child ended early');
        await new Promise(setImmediate);
        continue;
      }
      const actions = new Int32Array(n);
      for (let i = 0; i < n; i++) {
        const row = reader.rowOf[i] as number;
        assert.equal(reader.outputs.x?.[i * 4], (sent[row] as number) * 2 + row);
        frames[row] = (frames[row] as number) + 1;
        sent[row] = actions[i] = (frames[row] as number) * 3 + row;
      }
      reader.act(n, reader.rowOf, actions);
      taken += n;
    }
    const [code] = (await exited) as [number | null];
    assert.equal(code, 0);
    // On a loaded machine slots get out of step: the sum is what the child was told, and nobody starves.
    assert.equal(
      frames.reduce((a, b) => a + b, 0),
      ROUNDS * 50,
    );
    assert.ok(Math.min(...frames) > ROUNDS / 2, `${frames}`);
    assert.equal(control.progress(0).frames, ROUNDS * 50);
    assert.deepEqual(reader.stats, { collected: ROUNDS * 50, torn: 0, outOfOrder: 0, bytesCopied: ROUNDS * 50 * 16 });
  });
}

test('views stay readable after close', async () => {
  // Goal: a late view reads old bytes instead of crashing the process, also after everything else of the segment was collected.
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const spec: SegmentSpec = {
    runId: 'late',
    worker: 0,
    blocks: [
      {
        id: 0,
        kind: 'probe',
        firstEnvId: 0,
        slots: 2,
        cells: 2,
        keys: [{ key: 'vector', dtype: 'u8', elements: 4096, shape: [4096], low: 0, high: 255 }],
        action: { dtype: 'i32', length: 1 },
        autoreset: 'disabled',
      },
    ],
  };
  const closedView = () => {
    const segment = createNativeMemory().createSegment(spec);
    segment.allocate(0, 1);
    const view = segment.writer(0, 0).views(1, 1).vector;
    view?.fill(9);
    segment.close();
    segment.close();
    assert.throws(() => segment.writer(0, 0), /closed/);
    return view;
  };
  const view = closedView();
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await new Promise(setImmediate); // finalizers run between tasks
  }
  assert.equal(view?.[4095], 9);
});
