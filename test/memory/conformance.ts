// What every Memory must do, run against shared memory and against the in-memory twin: the cycle of a frame, batches, resets,
// quarantine, refusals of bad frames. Edges, epochs and statistics stand in conformance-edges.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABANDONED, FIRST, QUARANTINED, TERMINATED } from '../../harness/contract/frame-flags.js';
import type { Memory } from '../../harness/memory/interface.js';
import { act, claim, collect, cycle, fill, openScene, round } from './conformance-scene.js';

export function conformance(name: string, make: () => Memory): void {
  test(`${name}: a frame travels from cell to batch and its action back`, () => {
    // Goal: observation, reward and flags arrive together in the row of their slot, and the action in the slot of its row.
    const scene = openScene(make());
    const first = round(scene, (slot) => ({ value: slot + 0.5, reward: slot * 2 }));
    assert.deepEqual(first, { steps: [], resets: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
    const frames = collect(scene);
    assert.deepEqual(
      frames,
      Array.from({ length: 10 }, (_, i) => ({ row: i, reward: i * 2, flags: FIRST, value: i + 0.5 })),
    );
    act(scene, [9, 0, 4], (row) => 100 + row);
    assert.deepEqual(claim(scene), { steps: [0, 4, 9], resets: [] });
    const { action, actionStride } = scene.writer.range;
    assert.deepEqual(
      [0, 4, 9].map((slot) => action[slot * actionStride]),
      [100, 104, 109],
    );
  });

  test(`${name}: a slot is leased only after its frame was answered`, () => {
    // Goal: without an answer nothing is claimed, however often one asks, and a taken frame is not taken again.
    const scene = openScene(make());
    round(scene);
    assert.deepEqual(claim(scene), { steps: [], resets: [] });
    assert.equal(collect(scene).length, 10);
    assert.deepEqual(claim(scene), { steps: [], resets: [] });
    assert.equal(collect(scene).length, 0);
    act(scene, [2]);
    assert.deepEqual(claim(scene).steps, [2]);
  });

  test(`${name}: an inactive slot is invisible until its constructor is done`, () => {
    // Goal: claim hands out only activated slots.
    const scene = openScene(make());
    scene.writer = scene.segment.writer(scene.spec.id, 0);
    assert.deepEqual(claim(scene), { steps: [], resets: [] });
    scene.writer.activate(7);
    assert.deepEqual(claim(scene), { steps: [], resets: [7] });
  });

  for (const batch of [1, 3, 7, 13, 101]) {
    test(`${name}: batches of ${batch} visit 101 slots in turn`, () => {
      // Goal: a batch smaller than the block, prime or not, starves no slot: after k rounds no two slots differ by more than one frame.
      const scene = openScene(make(), { slots: 101, batchLimit: batch });
      const frames = new Array<number>(101).fill(0);
      for (let i = 0; i < 303; i++) {
        round(scene, (slot) => ({ value: slot }));
        const got = collect(scene, batch);
        assert.equal(got.length, batch);
        for (const frame of got) {
          assert.equal(frame.value, frame.row);
          frames[frame.row] = (frames[frame.row] as number) + 1;
        }
        assert.equal(new Set(got.map((f) => f.row)).size, batch);
        act(
          scene,
          got.map((f) => f.row),
        );
      }
      assert.ok(Math.max(...frames) - Math.min(...frames) <= 1, `frames per slot: ${frames.join(' ')}`);
    });
  }

  test(`${name}: a claim limit serves all slots in turn`, () => {
    // Goal: the worker may claim few at a time; the rest comes next, runs never wrap around the end of the block.
    const scene = openScene(make());
    cycle(scene);
    assert.deepEqual(round(scene, undefined, 4).steps, [0, 1, 2, 3]);
    assert.deepEqual(round(scene, undefined, 4).steps, [4, 5, 6, 7]);
    act(
      scene,
      collect(scene).map((f) => f.row),
    );
    const third = claim(scene, 4);
    assert.deepEqual([third.steps, scene.writer.runCount], [[8, 9, 0, 1], 2]);
  });

  for (const cells of [2, 3, 4, 5]) {
    test(`${name}: ${cells} cells per slot are used in turn`, () => {
      // Goal: frame seq lies in cell seq % D, views and planes agree, older frames stay until their cell comes round.
      const scene = openScene(make(), { cells, slots: 3 });
      for (let seq = 1; seq <= 3 * cells + 1; seq++) {
        round(scene, (slot) => ({ value: seq * 10 + slot }));
        assert.equal(scene.writer.range.cell[1], 1 * cells + (seq % cells));
        assert.deepEqual(
          collect(scene).map((f) => f.value),
          [seq * 10, seq * 10 + 1, seq * 10 + 2],
        );
        const older = Math.max(1, seq - cells + 1);
        assert.equal(scene.writer.views(2, older % cells).vector?.[3], older * 10 + 2);
        assert.equal(scene.writer.views(2, older % cells), scene.writer.views(2, older % cells));
        act(scene, [0, 1, 2]);
      }
    });
  }

  for (const length of [1, 8, 9, 40]) {
    test(`${name}: box actions of ${length} numbers reach their slot`, () => {
      // Goal: actions that fit the reader's line and those with a plane of their own are addressed alike.
      const scene = openScene(make(), { slots: 5, action: { dtype: 'f32', length } });
      round(scene);
      collect(scene);
      const values = Float32Array.from({ length: 5 * length }, (_, i) => i / 8);
      scene.reader.act(5, Int32Array.of(4, 3, 2, 1, 0), values);
      claim(scene);
      const { action, actionStride } = scene.writer.range;
      for (let slot = 0; slot < 5; slot++) {
        const sent = values.slice((4 - slot) * length, (5 - slot) * length);
        assert.deepEqual(action.slice(slot * actionStride, slot * actionStride + length), sent);
      }
    });
  }

  test(`${name}: the command reset answers a frame without an action`, () => {
    // Goal: commanded slots are claimed for a reset, once; the others step.
    const scene = openScene(make(), { slots: 4, autoreset: 'disabled' });
    round(scene);
    collect(scene);
    scene.reader.commandReset(2, Int32Array.of(1, 3));
    act(scene, [0, 2]);
    assert.deepEqual(round(scene), { steps: [0, 2], resets: [1, 3] });
    assert.deepEqual(
      collect(scene).map((f) => f.flags),
      [0, FIRST, 0, FIRST],
    );
    act(scene, [0, 1, 2, 3]);
    assert.deepEqual(claim(scene), { steps: [0, 1, 2, 3], resets: [] });
  });

  test(`${name}: a quarantined slot publishes a last frame of zeros and never comes back`, () => {
    // Goal: the reader learns it, no answer is needed, later writers of the same memory leave the slot alone.
    const scene = openScene(make(), { slots: 4 });
    cycle(scene, () => ({ value: 5 }));
    claim(scene);
    fill(scene, 2, Number.NaN);
    scene.writer.quarantine(2);
    scene.writer.publish('off');
    const frames = collect(scene);
    assert.deepEqual(
      frames.find((f) => f.row === 2),
      { row: 2, reward: 0, flags: ABANDONED | QUARANTINED, value: 0 },
    );
    assert.deepEqual(scene.segment.scan(scene.spec.id), { published: 8, taken: 8, live: 3, quarantined: 1 });
    act(
      scene,
      frames.map((f) => f.row),
    );
    assert.deepEqual(claim(scene).steps, [0, 1, 3]);
    scene.writer = scene.segment.writer(scene.spec.id, 0);
    for (let slot = 0; slot < 4; slot++) scene.writer.activate(slot);
    assert.deepEqual(claim(scene).resets, [0, 1, 3]);
  });

  test(`${name}: a slot whose constructor failed is quarantined without ever having run`, () => {
    // Goal: its only frame is the last one.
    const scene = openScene(make(), { slots: 2 });
    scene.writer = scene.segment.writer(scene.spec.id, 0);
    scene.writer.quarantine(1);
    assert.deepEqual(
      collect(scene).map((f) => [f.row, f.flags]),
      [[1, ABANDONED | QUARANTINED]],
    );
    assert.deepEqual(scene.segment.scan(scene.spec.id), { published: 1, taken: 1, live: 0, quarantined: 1 });
  });

  test(`${name}: quarantine waits for the lease`, () => {
    // Goal: a frame that the reader has not answered is not overwritten; the last frame follows when it was.
    const scene = openScene(make(), { slots: 2 });
    round(scene, () => ({ value: 7 }));
    scene.writer.quarantine(0);
    assert.deepEqual(
      collect(scene).map((f) => f.value),
      [7, 7],
    );
    assert.equal(scene.segment.scan(scene.spec.id).quarantined, 0);
    act(scene, [0, 1]);
    assert.deepEqual(claim(scene).steps, [1]);
    assert.deepEqual(
      collect(scene).map((f) => [f.row, f.flags]),
      [[0, ABANDONED | QUARANTINED]],
    );
  });

  test(`${name}: a frame with a bad reward or observation is refused by itself`, () => {
    // Goal: the breach names slot, key, element, value and rule; the neighbours are published; the slot stays leased until quarantined.
    const scene = openScene(make(), {
      slots: 5,
      keys: [{ key: 'vector', dtype: 'f32', elements: 4, shape: [4], low: [-1, -1, -1, -4.8], high: [1, 1, 1, 4.8] }],
    });
    const claimed = claim(scene);
    for (const slot of claimed.resets) fill(scene, slot, 1);
    const { range } = scene.writer;
    const put = (slot: number, element: number, value: number) => {
      (range.obs.vector as Float32Array)[(range.cell[slot] as number) * 4 + element] = value;
    };
    range.reward[0] = Number.NaN;
    put(1, 2, Number.POSITIVE_INFINITY);
    put(2, 1, 1.5);
    put(3, 3, 4.8); // exactly the bound, as f32 holds it
    assert.equal(scene.writer.publish('full'), 2);
    assert.deepEqual(scene.writer.breaches, [
      { slot: 0, key: 'reward', element: 0, value: Number.NaN, rule: 'finite' },
      { slot: 1, key: 'vector', element: 2, value: Number.POSITIVE_INFINITY, rule: 'finite' },
      { slot: 2, key: 'vector', element: 1, value: 1.5, rule: 'bounds' },
    ]);
    assert.deepEqual(
      collect(scene).map((f) => f.row),
      [3, 4],
    );
    assert.deepEqual(claim(scene), { steps: [], resets: [] });
    for (const slot of [0, 1, 2]) scene.writer.quarantine(slot);
    assert.equal(scene.segment.scan(scene.spec.id).quarantined, 3);
  });

  test(`${name}: sampled checks look at every slot once in 64 frames, off at rewards alone`, () => {
    // Goal: the cost is spread over the slots, and no slot escapes for ever.
    const publishBad = (check: 'sampled' | 'off', rounds: number) => {
      const scene = openScene(make(), { slots: 70 });
      const refused: number[] = [];
      for (let i = 0; i < rounds; i++) {
        for (const slot of [...claim(scene).steps, ...scene.writer.resets.slice(0, scene.writer.resetCount)]) fill(scene, slot, Number.NaN);
        scene.writer.publish(check);
        refused.push(scene.writer.breaches.length);
        act(
          scene,
          collect(scene).map((f) => f.row),
        );
      }
      return refused;
    };
    const sampled = publishBad('sampled', 64);
    assert.equal(
      sampled.reduce((a, b) => a + b),
      70,
    );
    assert.ok(Math.max(...sampled) <= 2, sampled.join(' '));
    assert.deepEqual(publishBad('off', 3), [0, 0, 0]);
  });

  test(`${name}: answering a row that has no frame is an error`, () => {
    // Goal: a learner's double answer is a bug and says so instead of handing a lease out twice.
    const scene = openScene(make(), { slots: 3 });
    round(scene, () => ({ flags: TERMINATED }));
    collect(scene);
    act(scene, [1]);
    assert.throws(() => act(scene, [1]), /row 1 has no frame to answer/);
    assert.throws(() => act(scene, [3]), /row 3/);
    assert.throws(() => act(scene, [-1]), /row -1/);
    assert.throws(() => scene.reader.act(1, Int32Array.of(0), new Float32Array(1)), /must be i32/);
    assert.throws(() => scene.reader.act(2, Int32Array.of(0, 2), new Int32Array(1)), /2 actions/);
  });

  test(`${name}: bells remember a ring until someone waits`, () => {
    // Goal: a publish or an answer between looking and waiting is never slept over.
    const scene = openScene(make(), { slots: 2 });
    scene.control.waitFrames(0);
    scene.segment.waitWork(0);
    assert.equal(scene.control.waitFrames(0), false);
    round(scene);
    assert.equal(scene.control.waitFrames(0), true);
    assert.equal(scene.control.waitFrames(0), false);
    assert.equal(scene.segment.waitWork(0), false);
    collect(scene);
    act(scene, [0, 1]);
    assert.equal(scene.segment.waitWork(0), true);
    scene.segment.ringWork();
    assert.equal(scene.segment.waitWork(0), true);
    assert.equal(scene.segment.waitWork(1), false);
  });

  test(`${name}: progress lines carry what the worker stored`, () => {
    // Goal: env id, operation, counters and epoch are read back by name; frames pass 32 bits; stamps keep fractions of a ms;
    // lines share nothing.
    const control = make().createControl(3);
    const never = { nativeMs: 0, loopMs: 0, opMs: 0 };
    assert.deepEqual(control.progress(2), { worker: 2, envId: -1, span: 1, op: 'idle', loops: 0, frames: 0, epoch: 0, ...never });
    control.progressWords(1).set([41, 3, -1, -2, 6, 1234, 1, 24]);
    control.stampWords(1).set([1e9 + 0.25, 1e9, 5.5]);
    const stamps = { nativeMs: 1e9 + 0.25, loopMs: 1e9, opMs: 5.5 };
    const counts = { loops: 2 ** 32 - 1, frames: 2 ** 33 - 2, epoch: 6 };
    assert.deepEqual(control.progress(1), { worker: 1, envId: 41, span: 24, op: 'step', ...counts, ...stamps });
    assert.deepEqual(control.progress(2), { worker: 2, envId: -1, span: 1, op: 'idle', loops: 0, frames: 0, epoch: 0, ...never });
    for (const call of ['progress', 'progressWords', 'stampWords'] as const) assert.throws(() => control[call](3), /line; the page has 3/);
  });
}
