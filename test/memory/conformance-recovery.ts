// The third part of the conformance suite: envs taken out of the round and given back, readers and segments that take over from others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ABANDONED, FINAL, FIRST, QUARANTINED, TRUNCATED } from '../../harness/contract/frame-flags.js';
import type { Memory, Segment } from '../../harness/memory/interface.js';
import { act, claim, collect, cycle, fill, openScene, round, type Scene } from './conformance-scene.js';

/** Another reader of the scene's block, as a restarted learner makes it. */
function secondReader(scene: Scene): Scene {
  const outputs = [{ name: 'x', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] }] as const;
  const reader = scene.memory.reader({ batchLimit: scene.spec.slots, outputs, threads: 1 }, scene.control);
  reader.add(scene.segment, scene.spec.id);
  return { ...scene, reader };
}

/** A segment of the same spec with the block's pages. */
function freshSegment(scene: Scene): Segment {
  const segment = scene.memory.createSegment(scene.segment.spec);
  segment.allocate(scene.spec.id, 1);
  return segment;
}

/** A new life's writer of `segment`, every slot active. */
function nextLife(scene: Scene, segment: Segment, epoch: number): Scene {
  const writer = segment.writer(scene.spec.id, epoch);
  for (let slot = 0; slot < scene.spec.slots; slot++) writer.activate(slot);
  return { ...scene, segment, writer };
}

export function conformanceRecovery(name: string, make: () => Memory): void {
  test(`${name}: a parked slot publishes nothing and is passed over until it is unparked`, () => {
    // Goal: its neighbours publish, its last frame stays the newest, its next frame is a reset that says abandoned.
    const scene = openScene(make(), { slots: 3 });
    cycle(scene, (slot) => ({ value: 10 + slot }));
    assert.deepEqual(claim(scene).steps, [0, 1, 2]);
    for (const slot of [0, 1, 2]) fill(scene, slot, 20 + slot);
    scene.writer.park(1);
    assert.equal(scene.writer.publish('full'), 2);
    assert.deepEqual(
      collect(scene).map((f) => [f.row, f.value]),
      [
        [0, 20],
        [2, 22],
      ],
    );
    assert.deepEqual(scene.segment.peek(scene.spec.id, 1, 'vector'), { seq: 1, data: Float32Array.of(11, 11, 11, 11) });
    act(scene, [0, 2]);
    for (let i = 0; i < 3; i++) assert.deepEqual(cycle(scene).length, 2);
    scene.writer.unpark(1);
    assert.equal(scene.writer.wasAbandoned(1), true);
    assert.deepEqual(claim(scene), { steps: [0, 2], resets: [1] });
    fill(scene, 1, 99);
    scene.writer.range.flags[1] = FIRST | ABANDONED;
    assert.equal(scene.writer.publish('full'), 3);
    assert.equal(scene.writer.wasAbandoned(1), false);
    const back = collect(scene).find((f) => f.row === 1);
    assert.deepEqual(back, { row: 1, value: 99, reward: 0, flags: FIRST | ABANDONED });
    act(scene, [0, 1, 2]);
    assert.deepEqual(claim(scene).steps, [0, 1, 2]);
    assert.deepEqual([scene.reader.stats.torn, scene.reader.stats.outOfOrder], [0, 0]);
  });

  test(`${name}: a slot can be parked in a reset, after a refusal, unclaimed, and twice`, () => {
    // Goal: an env fails wherever it likes; one that never published abandons nothing.
    const scene = openScene(make(), { slots: 4 });
    assert.deepEqual(claim(scene).resets, [0, 1, 2, 3]);
    scene.writer.park(0); // its reset failed
    fill(scene, 1, Number.NaN);
    assert.equal(scene.writer.publish('full'), 2);
    assert.equal(scene.writer.breaches[0]?.slot, 1);
    scene.writer.park(1); // its frame was refused
    scene.writer.park(2); // its frame waits for an answer
    scene.writer.park(2);
    assert.deepEqual(
      collect(scene).map((f) => f.row),
      [2, 3],
    );
    act(scene, [2, 3]);
    assert.deepEqual(claim(scene), { steps: [3], resets: [] });
    scene.writer.publish('full');
    for (const slot of [0, 1, 2, 3]) scene.writer.unpark(slot); // slot 3 is not parked: nothing changes
    assert.deepEqual(claim(scene), { steps: [], resets: [0, 1, 2] });
    assert.deepEqual(
      [0, 1, 2, 3].map((slot) => scene.writer.wasAbandoned(slot)),
      [false, false, true, false],
    );
    fill(scene, 1, 0);
    assert.equal(scene.writer.publish('full'), 3);
    assert.equal(scene.segment.scan(scene.spec.id).published, 6);
  });

  test(`${name}: unparked between claim and publish, a slot waits for the next claim`, () => {
    // Goal: what was half written before the failure is never published.
    const scene = openScene(make(), { slots: 2 });
    cycle(scene);
    claim(scene);
    scene.writer.park(0);
    scene.writer.unpark(0);
    assert.equal(scene.writer.publish('full'), 1);
    assert.deepEqual(claim(scene), { steps: [], resets: [0] });
  });

  test(`${name}: a parked slot can be quarantined, and a quarantine outlives park and unpark`, () => {
    // Goal: an env past its budget leaves the run with one last frame.
    const scene = openScene(make(), { slots: 3 });
    cycle(scene);
    claim(scene);
    scene.writer.park(0);
    scene.writer.quarantine(0);
    scene.writer.publish('full');
    assert.deepEqual(
      collect(scene).map((f) => f.flags),
      [ABANDONED | QUARANTINED, 0, 0],
    );
    scene.writer.park(1); // not leased: its frame is not answered yet
    scene.writer.quarantine(1);
    for (const slot of [0, 1]) {
      scene.writer.park(slot);
      scene.writer.unpark(slot);
    }
    act(scene, [1, 2]);
    assert.deepEqual(claim(scene), { steps: [2], resets: [] });
    assert.deepEqual(
      collect(scene).map((f) => f.flags),
      [ABANDONED | QUARANTINED],
    );
    assert.deepEqual(scene.segment.scan(scene.spec.id).quarantined, 2);
  });

  for (const order of ['writer first', 'reader first', 'reader before the last frame is taken'] as const) {
    test(`${name}: a released slot steps again (${order})`, () => {
      // Goal: whatever comes first, the slot is reset once both sides released it; sums stay exact; nobody else notices.
      const scene = openScene(make(), { slots: 2 });
      cycle(scene);
      scene.writer.quarantine(0);
      const scan = () => scene.segment.scan(scene.spec.id);
      if (order === 'reader before the last frame is taken') scene.reader.release(0);
      assert.deepEqual(
        cycle(scene).map((f) => f.row),
        [0, 1],
      );
      if (order === 'writer first') {
        scene.writer.release(0);
        assert.equal(scene.writer.wasAbandoned(0), true);
        assert.deepEqual(claim(scene), { steps: [1], resets: [] });
        scene.writer.publish('full');
        scene.segment.waitWork(0);
        scene.reader.release(0);
        assert.equal(scene.segment.waitWork(0), true, 'the worker is woken');
      } else {
        if (order === 'reader first') scene.reader.release(0);
        assert.deepEqual(claim(scene), { steps: [1], resets: [] });
        scene.writer.publish('full');
        scene.writer.release(0);
      }
      assert.deepEqual([scan().live, scan().quarantined], [1, 1]);
      assert.deepEqual(claim(scene), { steps: [], resets: [0] });
      fill(scene, 0, 7);
      scene.writer.range.flags[0] = FIRST | ABANDONED;
      assert.equal(scene.writer.publish('full'), 1);
      assert.deepEqual(scan(), { published: 6, taken: 4, live: 2, quarantined: 0 });
      assert.deepEqual(
        collect(scene).map((f) => [f.row, f.value, f.flags]),
        [
          [0, 7, FIRST | ABANDONED],
          [1, 0, 0],
        ],
      );
      act(scene, [0, 1]);
      assert.deepEqual(claim(scene).steps, [0, 1]);
      assert.deepEqual([scan().taken, scene.reader.stats.outOfOrder], [6, 0]);
    });
  }

  test(`${name}: a quarantine that was not published yet is taken back by a release`, () => {
    // Goal: no last frame appears, the slot goes on with a reset.
    const scene = openScene(make(), { slots: 1 });
    round(scene);
    scene.writer.quarantine(0); // its frame is with the reader
    scene.writer.release(0);
    collect(scene);
    act(scene, [0]);
    assert.deepEqual(claim(scene), { steps: [], resets: [0] });
    assert.equal(scene.writer.wasAbandoned(0), true);
    assert.deepEqual(scene.segment.scan(scene.spec.id), { published: 1, taken: 1, live: 1, quarantined: 0 });
  });

  test(`${name}: a quarantine of an earlier life can be released, and a released one can be quarantined again`, () => {
    // Goal: the order of lives does not matter to a person who gives an env another chance.
    let scene = openScene(make(), { slots: 2 });
    cycle(scene);
    scene.writer.quarantine(0);
    collect(scene);
    scene.segment.fence(scene.spec.id, 1);
    scene = nextLife(scene, scene.segment, 1);
    assert.deepEqual(claim(scene), { steps: [], resets: [1] });
    scene.writer.release(0);
    scene.reader.release(0);
    assert.deepEqual(claim(scene).resets, [0]);
    scene.writer.quarantine(0);
    assert.deepEqual(
      collect(scene).map((f) => [f.row, f.flags]),
      [[0, ABANDONED | QUARANTINED]],
    );
    scene.reader.release(0);
    scene.writer.release(0);
    assert.deepEqual(claim(scene).resets, [0]);
  });

  test(`${name}: releasing what is not quarantined changes nothing`, () => {
    // Goal: a command for the wrong env, twice, or for a block that was given up does no harm; an impossible row is refused.
    const scene = openScene(make(), { slots: 2 });
    cycle(scene);
    round(scene);
    scene.writer.release(0);
    scene.reader.release(0);
    scene.reader.release(1);
    assert.equal(collect(scene).length, 2);
    scene.reader.release(0);
    assert.deepEqual(claim(scene), { steps: [], resets: [] }, 'no lease was given');
    act(scene, [0, 1]);
    assert.deepEqual(claim(scene).steps, [0, 1]);
    assert.throws(() => scene.reader.release(2), /row 2/);
    assert.throws(() => scene.reader.release(-1), /row -1/);
    scene.writer.publish('full');
    scene.reader.drop(scene.segment, scene.spec.id);
    scene.reader.release(0);
    assert.deepEqual([collect(scene).length, claim(scene).steps.length], [0, 0]);
  });

  test(`${name}: the next reader counts every frame once, whatever its predecessor left`, () => {
    // Goal: frames taken and not answered are taken again, and the sum of the cursors goes back with them.
    const scene = openScene(make(), { slots: 4 });
    cycle(scene);
    round(scene, (slot) => ({ value: 30 + slot }));
    collect(scene, 3);
    act(scene, [1]);
    const scan = () => scene.segment.scan(scene.spec.id);
    assert.deepEqual([scan().published, scan().taken], [8, 7]);
    const next = secondReader(scene);
    assert.deepEqual([scan().published, scan().taken], [8, 5]);
    assert.deepEqual(
      collect(next).map((f) => [f.row, f.value]),
      [
        [0, 30],
        [2, 32],
        [3, 33],
      ],
    );
    assert.deepEqual([scan().published, scan().taken], [8, 8]);
    act(next, [0, 2, 3]);
    for (let i = 0; i < 3; i++) assert.equal(cycle(next).length, 4);
    assert.deepEqual([scan().published, scan().taken], [20, 20]);
    assert.deepEqual([next.reader.stats.torn, next.reader.stats.outOfOrder], [0, 0]);
  });

  test(`${name}: the next reader knows which rows are quarantined and which were released`, () => {
    // Goal: a last frame is not counted twice, and a released slot's frames are seen.
    const scene = openScene(make(), { slots: 3 });
    cycle(scene);
    for (const slot of [0, 1]) scene.writer.quarantine(slot);
    collect(scene);
    scene.reader.release(1);
    const next = secondReader(scene);
    assert.deepEqual(scene.segment.scan(scene.spec.id).taken, 5);
    assert.equal(collect(next).length, 0);
    scene.writer.release(1);
    assert.deepEqual(
      cycle(next).map((f) => f.row),
      [1, 2],
    );
    next.reader.release(0);
    scene.writer.release(0);
    assert.deepEqual(
      cycle(next).map((f) => f.row),
      [0, 1, 2],
    );
  });

  for (const shape of [
    { cells: 2, autoreset: 'next-step' },
    { cells: 3, autoreset: 'same-step' },
    { cells: 2, autoreset: 'disabled', action: { dtype: 'f32', length: 12 } },
  ] as const) {
    test(`${name}: a fresh segment takes over in mid-run (${shape.cells} cells, ${shape.autoreset})`, () => {
      // Goal: answered, unanswered, untaken, quarantined and untouched slots all go on where they were; the old writer reaches nobody.
      const scene = openScene(make(), { slots: 6, ...shape });
      const old = scene.segment;
      scene.writer.quarantine(5);
      for (let i = 0; i < 3; i++) cycle(scene, (slot) => ({ value: 10 * i + slot }));
      round(scene, (slot) => {
        if (shape.autoreset === 'same-step' && slot === 1) {
          fill(scene, 1, 77);
          scene.writer.keepFinal(1);
          return { value: 31, reward: 5, flags: TRUNCATED | FINAL };
        }
        return { value: 30 + slot, reward: slot };
      });
      collect(scene, 1);
      act(scene, [0]);
      claim(scene); // the old worker is in the middle of slot 0's next frame
      fill(scene, 0, -1);

      const fresh = freshSegment(scene);
      fresh.takeOver(old, 1);
      assert.deepEqual(fresh.scan(scene.spec.id), { published: 21, taken: 17, live: 5, quarantined: 1 });
      assert.throws(() => scene.writer.publish('full'), { code: 'worker-died' });
      assert.deepEqual(fresh.peek(scene.spec.id, 3, 'vector'), { seq: 4, data: Float32Array.of(33, 33, 33, 33) });

      const next = nextLife(scene, fresh, 1);
      // The reader still reads the old one: what it takes and answers there must not be lost.
      assert.deepEqual(
        collect(scene, 2).map((f) => [f.row, f.value]),
        [
          [1, 31],
          [2, 32],
        ],
      );
      act(scene, [2]);
      assert.deepEqual(claim(next), { steps: [], resets: [0] });
      fill(next, 0, 40);
      next.writer.range.flags[0] = FIRST | ABANDONED;
      next.writer.publish('full');

      fresh.waitWork(0);
      scene.reader.replace(old, fresh);
      assert.equal(fresh.waitWork(0), true, 'the new worker hears of the answers that came along');
      assert.deepEqual(fresh.scan(scene.spec.id), { published: 22, taken: 19, live: 5, quarantined: 1 });
      assert.deepEqual(claim(next), { steps: [], resets: [2] });
      next.writer.publish('full');
      act(next, [1]); // taken from the old segment, answered in the new one
      const frames = collect(next).map((f) => [f.row, f.value]);
      assert.deepEqual(
        frames.filter(([row]) => row !== 2),
        [
          [3, 33],
          [4, 34],
          [0, 40],
        ],
      );
      act(
        next,
        frames.map(([row]) => row as number),
      );
      assert.deepEqual(claim(next), { steps: [0, 2], resets: [1, 3, 4] });
      next.writer.publish('full');
      assert.equal(collect(next).length, 5);
      assert.deepEqual(fresh.scan(scene.spec.id), { published: 28, taken: 28, live: 5, quarantined: 1 });
      assert.deepEqual(old.scan(scene.spec.id).published, 21);
      assert.deepEqual([scene.reader.stats.torn, scene.reader.stats.outOfOrder], [0, 0]);
      scene.reader.drop(fresh, scene.spec.id);
      assert.equal(collect(next).length, 0);
    });
  }

  test(`${name}: the final observation of an untaken frame is taken over`, () => {
    // Goal: V(final) after a takeover is V of the right observation.
    const scene = openScene(make(), { slots: 1, autoreset: 'same-step', cells: 3 });
    cycle(scene);
    claim(scene);
    fill(scene, 0, 77);
    scene.writer.keepFinal(0);
    fill(scene, 0, 1);
    scene.writer.range.flags[0] = TRUNCATED | FINAL;
    scene.writer.publish('full');
    const fresh = freshSegment(scene);
    fresh.takeOver(scene.segment, 1);
    scene.reader.replace(scene.segment, fresh);
    assert.deepEqual(
      collect(scene).map((f) => [f.value, f.flags]),
      [[1, TRUNCATED | FINAL]],
    );
    assert.equal(scene.reader.finals.x?.[0], 77);
  });

  test(`${name}: a takeover needs the same spec, pages, and an epoch that nobody passed`, () => {
    // Goal: a wrong segment is refused by name and nothing of it is read.
    const memory = make();
    const scene = openScene(memory, { slots: 2 });
    cycle(scene);
    const { segment } = scene;
    const spec = segment.spec;
    const strange = memory.createSegment({ ...spec, worker: 40_000, blocks: [{ ...scene.spec, slots: 3 }] });
    strange.allocate(scene.spec.id, 1);
    assert.throws(() => strange.takeOver(segment, 1), { code: 'bad-segment', message: /same spec/ });
    assert.throws(() => scene.reader.replace(segment, strange), { code: 'bad-segment', message: /laid out/ });
    const bare = memory.createSegment(spec);
    assert.throws(() => bare.takeOver(segment, 1), { code: 'bad-segment', message: /no pages/ });
    const fresh = freshSegment(scene);
    assert.throws(() => fresh.takeOver(segment, 2 ** 24), /epoch/);
    segment.fence(scene.spec.id, 5);
    assert.throws(() => fresh.takeOver(segment, 4), { code: 'worker-died', message: /newer/ });
    assert.equal(fresh.scan(scene.spec.id).published, 0);
    scene.reader.replace(fresh, segment); // not read: nothing to replace
    assert.equal(segment.damaged(), null);
  });

  test(`${name}: a line beats until it is told to stop, once per line`, { timeout: 20_000 }, async () => {
    // Goal: the stamp rises by itself, other stamps and lines stay, and nothing beats after the end.
    const control = make().createControl(2);
    const stamps = control.stampWords(1);
    const stop = control.beat(1, 1);
    const first = stamps[0] as number;
    assert.ok(first > 0, 'the first beat comes at once');
    for (let seen = 0, last = first; seen < 3; ) {
      await new Promise(setImmediate);
      const now = control.progress(1).nativeMs;
      assert.ok(now >= last);
      if (now > last) seen++;
      last = now;
    }
    assert.throws(() => control.beat(1, 1), /line 1 beats already/);
    stop();
    stop();
    const end = stamps[0] as number;
    await new Promise((done) => setTimeout(done, 20));
    assert.deepEqual([...stamps], [end, 0, 0]);
    assert.equal(control.progress(0).nativeMs, 0);
    const again = control.beat(1, 1);
    for (const bad of [0, 1.5, Number.NaN, 60_001]) assert.throws(() => control.beat(0, bad), /interval/);
    assert.throws(() => control.beat(2, 1), /line/);
    control.close();
    again();
    assert.throws(() => control.beat(1, 1), /closed/);
  });

  test(`${name}: error tables are shared by those who attach`, () => {
    // Goal: what one side adds the other reads; another number of lines is refused.
    const memory = make();
    const tables = memory.createErrors(3);
    const attached = memory.attachErrors(3, tables.fd);
    const error = {
      envId: 7,
      entry: 'probe',
      operation: 'step',
      message: 'Error: boom',
      stack: 'Error: boom\n    at step (probe.ts:1:2)',
    } as const;
    attached.add(1, error);
    attached.add(1, error);
    const { cells, lost } = tables.read(1);
    assert.deepEqual([cells.length, cells[0]?.count, cells[0]?.exemplar, lost], [1, 2, error, 0]);
    assert.ok((cells[0]?.firstMs ?? 0) > 0);
    assert.equal(tables.read(0).cells.length, 0);
    assert.throws(() => memory.attachErrors(4, tables.fd), { code: 'bad-segment', message: /4 lines/ });
    attached.close();
    tables.close();
  });
}
