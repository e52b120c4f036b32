// Random lives of a few slots: envs fail, are parked, quarantined, released; readers and writers die; segments are replaced. Both memories
// play the same script and a ledger in the test says what must come out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ABANDONED, FIRST, QUARANTINED } from '../../harness/contract/frame-flags.js';
import type { Memory } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { act, claim, collect, fill, openScene } from './conformance-scene.js';

const SLOTS = 5;
const OUTPUTS = [{ name: 'x', parts: [{ key: 'vector', transform: 'float', scale: 1, offset: 0 }] }] as const;

const slot = fc.nat(SLOTS - 1);
const moveArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.record({ move: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: SLOTS }) }) },
  { weight: 6, arbitrary: fc.record({ move: fc.constant('publish' as const) }) },
  { weight: 6, arbitrary: fc.record({ move: fc.constant('collect' as const), limit: fc.integer({ min: 1, max: SLOTS }) }) },
  { weight: 6, arbitrary: fc.record({ move: fc.constant('act' as const), count: fc.integer({ min: 1, max: SLOTS }) }) },
  {
    weight: 8,
    arbitrary: fc.record({ move: fc.constantFrom('park', 'unpark', 'quarantine', 'release-writer', 'release-reader'), slot }),
  },
  { weight: 2, arbitrary: fc.record({ move: fc.constantFrom('new-worker', 'new-reader', 'take-over', 'replace') }) },
);
type Move = typeof moveArbitrary extends fc.Arbitrary<infer T> ? T : never;

/** Plays the script; returns everything that was seen. Asserts what the ledger knows on the way. */
function play(memory: Memory, script: readonly Move[]): unknown[] {
  const scene = openScene(memory, { slots: SLOTS });
  const seen: unknown[] = [];
  /** Frames published per slot: the frame's own number is its reward and its observation. */
  const published = new Array<number>(SLOTS).fill(0);
  const quarantined = new Array<boolean>(SLOTS).fill(false);
  /** Newest frame the readers took, and which of them wait for an answer. */
  const taken = new Array<number>(SLOTS).fill(0);
  let held: number[] = [];
  let leased = new Map<number, 'step' | 'reset'>();
  const lost = new Array<boolean>(SLOTS).fill(false);
  let epoch = 0;
  let { segment, writer, reader } = scene;
  let readFrom = segment;
  const last = (s: number) => {
    published[s] = (published[s] as number) + 1;
    quarantined[s] = true;
  };
  const newWriter = () => {
    writer = segment.writer(scene.spec.id, epoch);
    for (let s = 0; s < SLOTS; s++) {
      writer.activate(s);
      lost[s] = (published[s] as number) > 0;
    }
    leased = new Map();
  };
  const here = () => ({ ...scene, segment, writer, reader });
  // The writer's quarantine comes at once or with a later claim: the control words say when.
  const settle = () => {
    const words = {
      seq: new Float64Array(SLOTS),
      epoch: new Uint32Array(SLOTS),
      owed: new Uint8Array(SLOTS),
      retired: new Uint8Array(SLOTS),
    };
    segment.slotWords(scene.spec.id, words, 0);
    for (let s = 0; s < SLOTS; s++) {
      if ((words.seq[s] as number) === (published[s] as number) + 1 && words.retired[s] === 1) last(s);
      assert.equal(words.seq[s], published[s], `slot ${s} published`);
      assert.equal(words.retired[s], quarantined[s] ? 1 : 0, `slot ${s} quarantined`);
    }
  };
  for (const step of script) {
    switch (step.move) {
      case 'claim': {
        const got = claim(here(), step.limit);
        leased = new Map([...got.steps.map((s) => [s, 'step'] as const), ...got.resets.map((s) => [s, 'reset'] as const)]);
        for (const [s, kind] of leased) {
          assert.ok(kind === 'reset' || !lost[s], `slot ${s} steps on after its trajectory was lost`);
          assert.equal(writer.wasAbandoned(s), lost[s], `slot ${s} abandoned`);
        }
        seen.push(got);
        break;
      }
      case 'publish': {
        for (const [s, kind] of leased) {
          fill(here(), s, (published[s] as number) + 1);
          writer.range.reward[s] = (published[s] as number) + 1;
          writer.range.flags[s] = kind === 'reset' ? FIRST | (lost[s] ? ABANDONED : 0) : 0;
        }
        const count = writer.publish('full');
        assert.equal(count, leased.size);
        for (const s of leased.keys()) {
          published[s] = (published[s] as number) + 1;
          quarantined[s] = lost[s] = false;
        }
        leased = new Map();
        break;
      }
      case 'collect': {
        const frames = collect(here(), step.limit);
        for (const frame of frames) {
          const s = frame.row;
          assert.equal((taken[s] as number) + 1, published[s], `frame of slot ${s}`);
          taken[s] = published[s] as number;
          const isLast = (frame.flags & QUARANTINED) !== 0;
          if (isLast) assert.deepEqual([frame.value, frame.reward], [0, 0]);
          else assert.deepEqual([frame.value, frame.reward], [taken[s], taken[s]]);
          if (!isLast) held.push(s);
        }
        seen.push(frames);
        break;
      }
      case 'act':
        act(here(), held.splice(0, step.count));
        break;
      case 'park':
        writer.park(step.slot);
        leased.delete(step.slot);
        break;
      case 'unpark':
        writer.unpark(step.slot);
        break;
      case 'quarantine':
        writer.quarantine(step.slot);
        leased.delete(step.slot);
        break;
      case 'release-writer':
        writer.release(step.slot);
        break;
      case 'release-reader':
        reader.release(step.slot);
        break;
      case 'new-worker':
        segment.fence(scene.spec.id, ++epoch);
        newWriter();
        break;
      case 'new-reader':
        // A learner that dies while a segment is being replaced leaves its answers in the old one: the next one begins there.
        reader = memory.reader({ batchLimit: SLOTS, outputs: OUTPUTS, threads: 1 }, scene.control);
        reader.add(readFrom, scene.spec.id);
        for (const s of held) taken[s] = (taken[s] as number) - 1;
        held = [];
        break;
      case 'take-over': {
        if (readFrom !== segment) break;
        const fresh = memory.createSegment(segment.spec);
        fresh.allocate(scene.spec.id, 1);
        fresh.takeOver(segment, ++epoch);
        segment = fresh;
        newWriter();
        break;
      }
      case 'replace':
        if (readFrom === segment) break;
        reader.replace(readFrom, segment);
        readFrom = segment;
        break;
    }
    // A parked or released slot that published before begins with a reset that says so.
    if (step.move === 'unpark' || step.move === 'release-writer') lost[step.slot] = writer.wasAbandoned(step.slot);
    settle();
    if (readFrom !== segment) continue;
    const scan = segment.scan(scene.spec.id);
    const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
    assert.deepEqual([scan.published, scan.taken], [sum(published), sum(taken)]);
    assert.equal(scan.quarantined, quarantined.filter(Boolean).length);
    assert.deepEqual([reader.stats.torn, reader.stats.outOfOrder], [0, 0]);
    seen.push(scan);
  }
  return seen;
}

test('whatever fails and whoever dies, no frame is lost, doubled or mixed, and both memories agree', { timeout: 120_000 }, () => {
  // Goal: sums of the control words equal a ledger after every move of 200 random scripts; lost trajectories always say so.
  fc.assert(
    fc.property(fc.array(moveArbitrary, { minLength: 20, maxLength: 120 }), (script) => {
      assert.deepEqual(play(createNativeMemory(), script), play(createTwinMemory(), script));
    }),
    { numRuns: 200 },
  );
});
