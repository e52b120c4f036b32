// The control words slot by slot, from shared memory and from the twin: what the map of envs and the least-frames rule are made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memory, SlotWords } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { act, claim, collect, cycle, openScene, round, type Scene } from './conformance-scene.js';

const FROM = 2;

function wordsOf({ segment, spec }: Scene): { seq: number[]; epoch: number[]; owed: number[]; retired: number[] } {
  const size = FROM + spec.slots + 1;
  const words: SlotWords = {
    seq: new Float64Array(size).fill(-1),
    epoch: new Uint32Array(size).fill(99),
    owed: new Uint8Array(size).fill(9),
    retired: new Uint8Array(size).fill(9),
  };
  segment.slotWords(spec.id, words, FROM);
  // Nothing is written beside the block's own slots.
  for (const at of [0, 1, size - 1]) assert.deepEqual([words.seq[at], words.epoch[at], words.owed[at], words.retired[at]], [-1, 99, 9, 9]);
  const own = (array: Float64Array | Uint32Array | Uint8Array): number[] => [...array.slice(FROM, size - 1)];
  return { seq: own(words.seq), epoch: own(words.epoch), owed: own(words.owed), retired: own(words.retired) };
}

const memories: Record<string, () => Memory> = { native: () => createNativeMemory(), twin: () => createTwinMemory() };

for (const [name, make] of Object.entries(memories)) {
  for (const cells of [2, 3]) {
    test(`${name}, ${cells} cells: words follow each slot through its life`, () => {
      // Goal: frames, whose turn it is, quarantine and epoch, per slot, wherever the records lie.
      const scene = openScene(make(), { slots: 4, cells });
      assert.deepEqual(wordsOf(scene), { seq: [0, 0, 0, 0], epoch: [0, 0, 0, 0], owed: [1, 1, 1, 1], retired: [0, 0, 0, 0] });
      round(scene);
      assert.deepEqual(wordsOf(scene), { seq: [1, 1, 1, 1], epoch: [0, 0, 0, 0], owed: [0, 0, 0, 0], retired: [0, 0, 0, 0] });
      collect(scene);
      act(scene, [1, 3]);
      assert.deepEqual(wordsOf(scene).owed, [0, 1, 0, 1]);
      round(scene);
      assert.deepEqual(wordsOf(scene).seq, [1, 2, 1, 2]);
      collect(scene);
      act(scene, [0, 1, 2, 3]);
      for (let i = 0; i < 300; i++) cycle(scene);
      claim(scene);
      scene.writer.quarantine(2);
      scene.writer.publish('off');
      const later = wordsOf(scene);
      assert.deepEqual(later.retired, [0, 0, 1, 0]);
      assert.equal(later.seq[1], (later.seq[0] as number) + 1);
      assert.equal(
        later.seq.reduce((sum, seq) => sum + seq, 0),
        scene.segment.scan(scene.spec.id).published,
        'the sum is what the scan says',
      );
      scene.segment.fence(scene.spec.id, 5);
      assert.deepEqual(wordsOf(scene), { ...later, epoch: [5, 5, 5, 5] });
    });
  }

  test(`${name}: a block without pages is left alone`, () => {
    // Goal: looking at envs of a later tier costs no memory.
    const memory = make();
    const { spec } = openScene(memory);
    const segment = memory.createSegment({ runId: 'no-pages', worker: 200, blocks: [spec] });
    const words: SlotWords = {
      seq: new Float64Array(10).fill(7),
      epoch: new Uint32Array(10),
      owed: new Uint8Array(10),
      retired: new Uint8Array(10),
    };
    segment.slotWords(spec.id, words, 0);
    assert.deepEqual([...words.seq], new Array(10).fill(7));
    segment.close();
  });
}
