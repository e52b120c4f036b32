// Goal: validity counts every env that is in the run, by its own id, and none that is not.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SlotWords } from '../../harness/memory/interface.js';
import type { PlannedSegment } from '../../harness/supervisor/block-plan.js';
import { readEnvFrames } from '../../harness/supervisor/env-frames.js';
import type { WorkerPost } from '../../harness/supervisor/post.js';

type Post = Pick<WorkerPost, 'planned' | 'segment' | 'blocks' | 'state'>;

/** A worker with one block of envs from `firstEnvId` on, and what their control words say. */
function post(state: WorkerPost['state'], firstEnvId: number, seqs: readonly number[], retired: readonly number[] = []): Post {
  const planned = { spec: { worker: 0, blocks: [{ id: firstEnvId, firstEnvId, slots: seqs.length }] } } as unknown as PlannedSegment;
  const slotWords = (_block: number, into: SlotWords, from: number): void => {
    into.seq.set(seqs, from);
    for (const slot of retired) into.retired[from + slot] = 1;
  };
  return { planned, state, blocks: [firstEnvId], segment: { slotWords } as unknown as WorkerPost['segment'] };
}

it('frames per env stand at the env id; quarantined, unstarted, unplanned and lost envs do not count', () => {
  const frames = readEnvFrames([post('up', 0, [7, 0, 9], [2]), post('lost', 3, [5, 5]), post('up', 5, [1])], 8);
  const none = Number.NaN;
  assert.deepEqual([...frames], [7, none, none, none, none, 1, none, none]);
});
