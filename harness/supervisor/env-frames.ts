// Frames published by every planned env since the run began, read from the control words: asked at both ends of a tier's measured time,
// so that one env that stood still is seen among thousands. Bounded: 22 bytes per planned env.
import type { SlotWords } from '../memory/interface.js';
import { specOf } from './block-plan.js';
import type { WorkerPost } from './post.js';

/** By env id; NaN for an env that does not count: not started, quarantined, or of a worker that is gone for good. */
export function readEnvFrames(posts: readonly Pick<WorkerPost, 'planned' | 'segment' | 'blocks' | 'state'>[], envs: number): Float64Array {
  const words: SlotWords = {
    seq: new Float64Array(envs),
    epoch: new Uint32Array(envs),
    owed: new Uint8Array(envs),
    retired: new Uint8Array(envs),
  };
  const frames = new Float64Array(envs).fill(Number.NaN);
  for (const post of posts) {
    if (post.state === 'lost') continue;
    for (const block of post.blocks) {
      const { firstEnvId, slots } = specOf(post.planned, block);
      post.segment.slotWords(block, words, firstEnvId);
      for (let env = firstEnvId; env < firstEnvId + slots; env++) {
        const seq = words.seq[env] as number;
        if (seq > 0 && words.retired[env] === 0) frames[env] = seq;
      }
    }
  }
  return frames;
}
