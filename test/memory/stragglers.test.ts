// Slow envs must not slow the others down. Counted, not timed: a round is one claim, one publish, one collect, one answer; nobody waits
// within a round, so what is not ready is left out and everything else goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlockSpec, Memory } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { act, claim, collect, openScene, round, type Scene } from './conformance-scene.js';

const ROWS = 200;
const ROUNDS = 200;
/** 5 % of the rows, spread over the block: one in twenty. */
const EVERY = 20;
const STRAGGLERS = ROWS / EVERY;
/** A straggler makes one move in this many rounds. */
const SLOWER = 10;
const SHARE_MIN = 0.9;

const isStraggler = (row: number) => row % EVERY === EVERY - 1;

/** Frames per row after ROUNDS rounds in which `answers(row, round)` says whether a frame taken earlier is answered now. */
function countFrames(scene: Scene, answers: (row: number, round: number) => boolean): number[] {
  const frames = new Array<number>(ROWS).fill(0);
  let held: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    round(scene);
    for (const { row } of collect(scene, ROWS)) {
      frames[row] = (frames[row] as number) + 1;
      held.push(row);
    }
    act(
      scene,
      held.filter((row) => answers(row, i)),
    );
    held = held.filter((row) => !answers(row, i));
  }
  return frames;
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** The others made one frame in every round, each straggler its tenth, and together they lost less than a tenth of all frames. */
function checkShare(frames: readonly number[], without: number): void {
  frames.forEach((count, row) => {
    assert.equal(count, isStraggler(row) ? ROUNDS / SLOWER : ROUNDS, `frames of row ${row}`);
  });
  const share = sum(frames) / without;
  assert.ok(share >= SHARE_MIN, `${sum(frames)} of ${without} frames: ${share}`);
}

for (const make of [() => createNativeMemory(), () => createTwinMemory()] as (() => Memory)[]) {
  const { name } = make();

  test(`${name}: a deferred slot is passed over while others are due, and comes alone when none is`, { timeout: 60_000 }, () => {
    // Goal: a slow env takes fewer turns than its neighbours, and idle time is still its own.
    const scene = openScene(make(), { slots: 4 });
    const turn = () => {
      const { steps } = round(scene);
      act(
        scene,
        collect(scene).map((frame) => frame.row),
      );
      return steps;
    };
    turn();
    assert.deepEqual(turn(), [0, 1, 2, 3]);
    scene.writer.defer(1, 2);
    assert.deepEqual(turn(), [0, 2, 3]);
    assert.deepEqual(turn(), [0, 2, 3]);
    assert.deepEqual(turn(), [0, 1, 2, 3]);
    for (const slot of [0, 1, 2, 3]) scene.writer.defer(slot, 9);
    assert.equal(turn().length, 1, 'all are deferred: one comes, alone');
  });

  test(`${name}: rows answered one round in ten cost the others nothing`, { timeout: 60_000 }, () => {
    // Goal: with 5 % stragglers the other 95 % publish and are taken once per round, and at least 0.9 of all frames remain.
    const without = sum(countFrames(openScene(make(), { slots: ROWS }), () => true));
    assert.equal(without, ROWS * ROUNDS);
    const frames = countFrames(openScene(make(), { slots: ROWS }), (row, i) => !isStraggler(row) || i % SLOWER === SLOWER - 1);
    checkShare(frames, without);
  });

  test(`${name}: a worker that is ten times slower keeps no batch waiting`, { timeout: 60_000 }, () => {
    // Goal: 5 % of the rows lie with a worker that holds its leases for nine rounds of ten; every batch is full of the others' frames.
    const memory = make();
    const fast = openScene(memory, { slots: ROWS - STRAGGLERS, batchLimit: ROWS });
    const spec: BlockSpec = { ...fast.spec, id: 9, firstEnvId: 5_000, slots: STRAGGLERS };
    const segment = memory.createSegment({ runId: 'conformance', worker: 30_000, blocks: [spec] });
    segment.allocate(spec.id, 1);
    const firstSlow = fast.reader.add(segment, spec.id);
    const slow: Scene = { ...fast, spec, segment, writer: segment.writer(spec.id, 0) };
    for (let slot = 0; slot < STRAGGLERS; slot++) slow.writer.activate(slot);
    let taken = 0;
    for (let i = 0; i < ROUNDS; i++) {
      round(fast);
      // The slow worker leases its slots at once and needs the rounds up to the tenth to step them.
      if (i % SLOWER === 0) claim(slow);
      if (i % SLOWER === SLOWER - 1) assert.equal(slow.writer.publish('full'), STRAGGLERS);
      const rows = collect(fast, ROWS).map(({ row }) => row);
      assert.equal(rows.filter((row) => row < firstSlow).length, ROWS - STRAGGLERS, `frames of the others in batch ${i}`);
      taken += rows.length;
      act(fast, rows);
    }
    assert.equal(taken, ROUNDS * (ROWS - STRAGGLERS) + (ROUNDS / SLOWER) * STRAGGLERS);
    assert.ok(taken / (ROWS * ROUNDS) >= SHARE_MIN, `${taken} of ${ROWS * ROUNDS} frames`);
    assert.deepEqual(segment.scan(spec.id).published, (ROUNDS / SLOWER) * STRAGGLERS);
  });
}
