// The second half of the conformance suite: epochs, episode edges, statistics, outputs, several blocks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TypedArray } from '../../harness/contract/dtype.js';
import { ABANDONED, FINAL, FIRST, TERMINATED, TRUNCATED } from '../../harness/contract/frame-flags.js';
import type { BlockSpec, KeySpec, Memory } from '../../harness/memory/interface.js';
import { act, claim, collect, cycle, fill, openScene, round } from './conformance-scene.js';

const RGB: KeySpec = { key: 'rgb', dtype: 'u8', elements: 28 * 42 * 3, shape: [28, 42, 3], low: 0, high: 255 };

export function conformanceEdges(name: string, make: () => Memory): void {
  test(`${name}: after a fence the old writer cannot publish and must exit`, () => {
    // Goal: nothing of the old epoch appears; the error says fenced.
    const scene = openScene(make(), { slots: 3 });
    cycle(scene);
    claim(scene);
    scene.segment.fence(scene.spec.id, 1);
    assert.throws(
      () => scene.writer.publish('full'),
      (error: { code?: string; detail?: { fenced?: boolean } }) => error.code === 'worker-died' && error.detail?.fenced === true,
    );
    assert.equal(collect(scene).length, 0);
    assert.equal(scene.segment.scan(scene.spec.id).published, 3);
    assert.throws(() => scene.segment.writer(scene.spec.id, 0), /fenced/);
    assert.throws(() => scene.segment.fence(scene.spec.id, 0), /newer/);
    assert.throws(() => scene.segment.fence(scene.spec.id, 2 ** 24), /epoch/);
  });

  test(`${name}: a restarted worker starts every slot with a reset that says abandoned`, () => {
    // Goal: seq goes on, slots that had frames are abandoned, fresh ones are not; unanswered frames are answered first.
    const scene = openScene(make(), { slots: 4 });
    cycle(scene, undefined);
    round(scene, undefined, 2); // slots 0 and 1 publish a second frame
    scene.segment.fence(scene.spec.id, 1);
    scene.writer = scene.segment.writer(scene.spec.id, 1);
    for (let slot = 0; slot < 4; slot++) scene.writer.activate(slot);
    assert.deepEqual(claim(scene), { steps: [], resets: [2, 3] });
    assert.deepEqual(
      [2, 3].map((slot) => scene.writer.wasAbandoned(slot)),
      [true, true],
    );
    scene.writer.range.flags.set([FIRST | ABANDONED, FIRST | ABANDONED], 2);
    scene.writer.publish('full');
    assert.deepEqual(
      collect(scene).map((f) => [f.row, f.flags]),
      [
        [0, 0],
        [1, 0],
        [2, FIRST | ABANDONED],
        [3, FIRST | ABANDONED],
      ],
    );
    act(scene, [0, 1, 2, 3]);
    assert.deepEqual(claim(scene), { steps: [2, 3], resets: [0, 1] });
    assert.equal(scene.writer.wasAbandoned(0), true);
    assert.equal(scene.writer.wasAbandoned(2), false);
    assert.equal(scene.reader.stats.outOfOrder, 0);
  });

  test(`${name}: a worker of a later epoch that finds untouched slots abandons nothing`, () => {
    // Goal: a block that goes live after a restart has no lost trajectories.
    const scene = openScene(make(), { slots: 2 });
    scene.writer = scene.segment.writer(scene.spec.id, 4);
    for (let slot = 0; slot < 2; slot++) scene.writer.activate(slot);
    assert.deepEqual(claim(scene).resets, [0, 1]);
    assert.equal(scene.writer.wasAbandoned(0), false);
    scene.writer.publish('full');
    assert.throws(() => scene.segment.fence(scene.spec.id, 3), /newer/);
  });

  test(`${name}: next-step autoreset resets after the done frame was answered`, () => {
    // Goal: the done frame carries the last observation; the next frame is FIRST; a done slot never steps.
    const scene = openScene(make(), { slots: 2 });
    cycle(scene);
    cycle(scene, (slot) => ({ value: 9, reward: 1, flags: slot === 0 ? TERMINATED : 0 }));
    assert.deepEqual(
      round(scene, (slot) => ({ value: slot })),
      { steps: [1], resets: [0] },
    );
    assert.deepEqual(
      collect(scene).map((f) => f.flags),
      [FIRST, 0],
    );
  });

  test(`${name}: same-step keeps the ended episode's last observation beside the next one's first`, () => {
    // Goal: outputs hold the frame, finals the final observation, only where FINAL is set; the slot steps on without a reset.
    const scene = openScene(make(), { slots: 4, cells: 3, autoreset: 'same-step' });
    cycle(scene);
    for (let i = 0; i < 5; i++) {
      const { steps } = claim(scene);
      assert.deepEqual(steps, [0, 1, 2, 3]);
      for (const slot of steps) {
        fill(scene, slot, 100 * i + slot);
        if (slot % 2 === i % 2) continue;
        scene.writer.keepFinal(slot);
        fill(scene, slot, -slot);
        scene.writer.range.flags[slot] = TRUNCATED | FINAL;
      }
      scene.writer.publish('full');
      const frames = collect(scene);
      frames.forEach((frame, at) => {
        const ended = frame.row % 2 !== i % 2;
        assert.equal(frame.flags, ended ? TRUNCATED | FINAL : 0);
        assert.equal(frame.value, ended ? -frame.row : 100 * i + frame.row);
        if (ended) assert.equal(scene.reader.finals.x?.[at * 4 + 3], 100 * i + frame.row);
      });
      act(
        scene,
        frames.map((f) => f.row),
      );
    }
  });

  test(`${name}: a bad final observation is refused like any other`, () => {
    // Goal: V(final) never sees NaN.
    const scene = openScene(make(), { slots: 1, autoreset: 'same-step' });
    cycle(scene);
    claim(scene);
    fill(scene, 0, Number.NaN);
    scene.writer.keepFinal(0);
    fill(scene, 0, 1);
    scene.writer.range.flags[0] = TRUNCATED | FINAL;
    assert.equal(scene.writer.publish('full'), 0);
    assert.equal(scene.writer.breaches[0]?.rule, 'finite');
  });

  for (const autoreset of ['next-step', 'same-step', 'disabled'] as const) {
    test(`${name}: returns and lengths of episodes 1 to 10 are right (${autoreset})`, () => {
      // Goal: resets count neither as step nor as reward; abandoned episodes are never reported.
      const scene = openScene(make(), { slots: 3, autoreset });
      const lengthOf = (slot: number, episode: number) => 1 + ((slot + episode) % 4);
      const at = [0, 0, 0].map(() => ({ episode: 0, step: 0 }));
      const seen: [number, number, number][] = [];
      for (let i = 0; i < 200 && at.some((a) => a.episode < 10); i++) {
        round(scene, (slot, kind) => {
          const where = at[slot] as { episode: number; step: number };
          if (kind === 'reset') return { reward: 77 }; // a reset's reward must not be counted
          where.step++;
          const done = where.step === lengthOf(slot, where.episode);
          const reward = 10 ** where.episode;
          if (done) {
            where.episode++;
            where.step = 0;
          }
          return { reward, flags: done ? TERMINATED | (autoreset === 'same-step' ? FINAL : 0) : 0 };
        });
        const frames = collect(scene);
        for (let e = 0; e < scene.reader.episodeCount; e++) {
          seen.push([
            scene.reader.episodeRow[e] as number,
            scene.reader.episodeReturn[e] as number,
            scene.reader.episodeLength[e] as number,
          ]);
        }
        const ended = frames.filter((f) => autoreset === 'disabled' && (f.flags & TERMINATED) !== 0).map((f) => f.row);
        scene.reader.commandReset(ended.length, Int32Array.from(ended));
        act(
          scene,
          frames.map((f) => f.row).filter((row) => !ended.includes(row)),
        );
      }
      for (let slot = 0; slot < 3; slot++) {
        const own = seen.filter(([row]) => row === slot).slice(0, 10);
        const expected = Array.from({ length: 10 }, (_, e) => [slot, lengthOf(slot, e) * 10 ** e, lengthOf(slot, e)]);
        assert.deepEqual(own, expected);
      }
    });
  }

  test(`${name}: an abandoned episode is not reported and the next one counts from zero`, () => {
    // Goal: a lost trajectory leaves no trace in the statistics.
    const scene = openScene(make(), { slots: 1, autoreset: 'disabled' });
    cycle(scene);
    cycle(scene, () => ({ reward: 5 }));
    scene.segment.fence(scene.spec.id, 1);
    scene.writer = scene.segment.writer(scene.spec.id, 1);
    scene.writer.activate(0);
    cycle(scene, () => ({ flags: ABANDONED }));
    assert.equal(scene.reader.episodeCount, 0);
    cycle(scene, () => ({ reward: 2, flags: TERMINATED }));
    assert.deepEqual([scene.reader.episodeCount, scene.reader.episodeReturn[0], scene.reader.episodeLength[0]], [1, 2, 1]);
  });

  test(`${name}: latency counts every frame that followed an answer`, () => {
    // Goal: samples = frames - first frames; a reset empties the histogram; values are not negative.
    const scene = openScene(make(), { slots: 10 });
    const samples = () => scene.reader.latency().count.reduce((a, b) => a + b, 0);
    for (let i = 0; i < 5; i++) cycle(scene);
    assert.equal(samples(), 40);
    const { valueUs, maxUs } = scene.reader.latency();
    assert.ok(valueUs.every((v) => v >= 0 && v <= maxUs * 1.01));
    scene.reader.resetLatency();
    assert.equal(samples(), 0);
    cycle(scene);
    assert.equal(samples(), 10);
  });

  test(`${name}: peek shows the newest frame and needs no lease`, () => {
    // Goal: undefined before the first frame, then a copy that later frames do not change.
    const scene = openScene(make(), { slots: 2 });
    assert.equal(scene.segment.peek(scene.spec.id, 1, 'vector'), undefined);
    cycle(scene, () => ({ value: 4 }));
    const seen = scene.segment.peek(scene.spec.id, 1, 'vector');
    cycle(scene, () => ({ value: 5 }));
    assert.deepEqual(seen, { seq: 1, data: Float32Array.of(4, 4, 4, 4) });
    assert.equal(scene.segment.peek(scene.spec.id, 1, 'vector')?.seq, 2);
    assert.throws(() => scene.segment.peek(scene.spec.id, 1, 'rgb'), /no key/);
  });

  test(`${name}: outputs convert, pool and copy, and count the bytes`, () => {
    // Goal: every dtype becomes float by in * scale + offset, images are averaged to 14 x 14, raw copies keep their dtype.
    const keys: KeySpec[] = [
      RGB,
      { key: 'state', dtype: 'f64', elements: 3, shape: [3], low: -1e9, high: 1e9 },
      { key: 'count', dtype: 'i32', elements: 2, shape: [2], low: -1000, high: 1000 },
    ];
    const outputs = [
      {
        name: 'x',
        parts: [
          { key: 'state', transform: 'float', scale: 2, offset: 1 },
          { key: 'rgb', transform: 'pool', scale: 1 / 255, offset: -0.5 },
          { key: 'count', transform: 'float', scale: 1, offset: 0 },
        ],
      },
      { name: 'pixels', raw: 'rgb' },
      { name: 'whole', parts: [{ key: 'rgb', transform: 'float', scale: 1 / 255, offset: 0 }] },
    ] as const;
    const scene = openScene(make(), { slots: 2, keys, outputs });
    claim(scene);
    const pixel = (slot: number, i: number) => (i * 7 + slot * 13) % 256;
    for (let slot = 0; slot < 2; slot++) {
      const cell = scene.writer.views(slot, 1) as Record<string, TypedArray>;
      for (let i = 0; i < RGB.elements; i++) (cell.rgb as TypedArray)[i] = pixel(slot, i);
      cell.state?.set([1.5 + slot, -2, 1000]);
      cell.count?.set([-7, 900 + slot]);
    }
    scene.writer.publish('full');
    assert.equal(scene.reader.collect(2), 2);
    const { x, pixels, whole } = scene.reader.outputs as { x: Float32Array; pixels: Uint8Array; whole: Float32Array };
    const columns = 3 + 14 * 14 * 3 + 2;
    assert.equal(x.length, 2 * columns);
    for (let slot = 0; slot < 2; slot++) {
      const row = x.subarray(slot * columns, (slot + 1) * columns);
      assert.deepEqual([...row.subarray(0, 3)], [4 + 2 * slot, -3, 2001]);
      assert.deepEqual([...row.subarray(-2)], [-7, 900 + slot]);
      for (let tile = 0; tile < 14 * 14; tile++) {
        for (let c = 0; c < 3; c++) {
          let sum = 0;
          for (let y = 0; y < 2; y++) {
            for (let px = 0; px < 3; px++) sum += pixel(slot, ((Math.floor(tile / 14) * 2 + y) * 42 + (tile % 14) * 3 + px) * 3 + c);
          }
          assert.ok(Math.abs((row[3 + tile * 3 + c] as number) - (sum / 6 / 255 - 0.5)) < 1e-6);
        }
      }
      for (let i = 0; i < RGB.elements; i++) {
        assert.equal(pixels[slot * RGB.elements + i], pixel(slot, i));
        assert.ok(Math.abs((whole[slot * RGB.elements + i] as number) - pixel(slot, i) / 255) < 1e-6);
      }
    }
    assert.equal(scene.reader.stats.bytesCopied, 2 * (columns * 4 + RGB.elements + RGB.elements * 4));
  });

  test(`${name}: large cells gathered by threads equal those gathered by one`, () => {
    // Goal: the helpers write each row once and to its place.
    const rgb: KeySpec = { key: 'rgb', dtype: 'u8', elements: 224 * 224 * 3, shape: [224, 224, 3], low: 0, high: 255 };
    const gathered = [1, 3].map((threads) => {
      const scene = openScene(make(), {
        slots: 12,
        keys: [rgb],
        threads,
        outputs: [{ name: 'x', parts: [{ key: 'rgb', transform: 'pool', scale: 1, offset: 0 }] }],
      });
      claim(scene);
      for (let slot = 0; slot < 12; slot++) (scene.writer.views(slot, 1).rgb as Uint8Array).fill(10 * slot + 1);
      scene.writer.publish('off');
      assert.equal(scene.reader.collect(12), 12);
      return scene.reader.outputs.x as Float32Array;
    });
    assert.deepEqual(gathered[0], gathered[1]);
    assert.equal(gathered[0]?.[11 * 588 + 100], 111);
  });

  test(`${name}: several blocks share one reader and a dropped one is read no more`, () => {
    // Goal: rows follow the order of adding; drop takes what was never taken; other blocks go on.
    const memory = make();
    const scene = openScene(memory, { slots: 3, batchLimit: 20 });
    const spec: BlockSpec = { ...scene.spec, id: 8, firstEnvId: 500, slots: 2 };
    const other = memory.createSegment({ runId: 'conformance', worker: 9_999, blocks: [spec] });
    other.allocate(8, 1);
    assert.equal(scene.reader.add(other, 8), 3);
    assert.equal(scene.reader.rows, 5);
    const second = { ...scene, spec, segment: other, writer: other.writer(8, 0) };
    for (const slot of [0, 1]) second.writer.activate(slot);
    round(scene, (slot) => ({ value: slot }));
    round(second, (slot) => ({ value: 50 + slot }));
    assert.deepEqual(
      collect(scene, 4).map((f) => [f.row, f.value]),
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [3, 50],
      ],
    );
    assert.equal(scene.reader.drop(other, 8), 1);
    assert.equal(other.scan(8).taken, 2);
    assert.equal(scene.reader.drop(other, 8), 0);
    act(scene, [0, 1, 2]);
    assert.deepEqual(
      cycle(scene).map((f) => f.row),
      [0, 1, 2],
    );
    const strange = memory.createSegment({
      runId: 'conformance',
      worker: 10_000,
      blocks: [{ ...spec, action: { dtype: 'f32', length: 1 } }],
    });
    strange.allocate(8, 1);
    assert.throws(() => scene.reader.add(strange, 8), /space/);
  });

  test(`${name}: a reader that starts over takes unanswered frames again`, () => {
    // Goal: a learner that died between taking and answering leaves no slot waiting for ever.
    const memory = make();
    const scene = openScene(memory, { slots: 3 });
    cycle(scene);
    round(scene, (slot) => ({ value: slot + 1 }));
    collect(scene);
    act(scene, [1]);
    const again = {
      ...scene,
      reader: memory.reader(
        { batchLimit: 3, outputs: [{ name: 'x', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] }], threads: 1 },
        scene.control,
      ),
    };
    again.reader.add(scene.segment, scene.spec.id);
    assert.deepEqual(
      collect(again).map((f) => [f.row, f.value]),
      [
        [0, 1],
        [2, 3],
      ],
    );
    act(again, [0, 2]);
    assert.deepEqual(claim(scene).steps, [0, 1, 2]);
  });

  test(`${name}: scans count published, taken, live and quarantined at every moment`, () => {
    // Goal: the balance can be read from outside, from the control words alone.
    const scene = openScene(make(), { slots: 5 });
    const scan = () => scene.segment.scan(scene.spec.id);
    assert.deepEqual(scan(), { published: 0, taken: 0, live: 0, quarantined: 0 });
    round(scene, undefined, 3);
    assert.deepEqual(scan(), { published: 3, taken: 0, live: 3, quarantined: 0 });
    collect(scene, 2);
    assert.deepEqual(scan(), { published: 3, taken: 2, live: 3, quarantined: 0 });
    scene.writer.quarantine(4);
    assert.deepEqual(scan(), { published: 4, taken: 2, live: 3, quarantined: 1 });
  });

  test(`${name}: a block without pages is not touched`, () => {
    // Goal: scans of planned blocks are zero, writers refuse, a fence before allocation is harmless.
    const memory = make();
    const scene = openScene(memory);
    const segment = memory.createSegment({ runId: 'conformance', worker: 20_000, blocks: [scene.spec] });
    assert.deepEqual(segment.scan(scene.spec.id), { published: 0, taken: 0, live: 0, quarantined: 0 });
    segment.fence(scene.spec.id, 2);
    assert.throws(() => segment.writer(scene.spec.id, 2), { code: 'bad-segment' });
    assert.throws(() => segment.scan(77), /no block 77/);
    assert.ok(segment.blockBytes(scene.spec.id) > 0 && segment.bytes > segment.blockBytes(scene.spec.id));
  });
}
