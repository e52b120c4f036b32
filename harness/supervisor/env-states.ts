// The state of every planned env as one byte, made from shared memory alone: asked about once a second by whoever draws the map. Keeps
// the last look, because "slow" is a difference between looks. Bounded: 31 bytes per planned env.
import { ENV_STATE_CODE } from '../contract/env-state.js';
import type { SlotWords } from '../memory/interface.js';
import { specOf } from './block-plan.js';
import type { WorkerPost } from './post.js';

/** An env that owes a frame for this long is drawn as slow: two looks at one a second, so that a single late step does not flicker. */
export const SLOW_AFTER_MS = 2000;

export interface EnvStateReader {
  /** By env id. The array is reused by the next call. */
  read(): Uint8Array;
  /** What `read` returned last. */
  readonly last: Uint8Array;
}

/** `posts` own the blocks of `envs` env ids. */
export function createEnvStateReader(
  posts: readonly Pick<WorkerPost, 'planned' | 'segment' | 'blocks' | 'state'>[],
  envs: number,
  nowMs: () => number,
): EnvStateReader {
  const states = new Uint8Array(envs);
  const words: SlotWords = {
    seq: new Float64Array(envs),
    epoch: new Uint32Array(envs),
    owed: new Uint8Array(envs),
    retired: new Uint8Array(envs),
  };
  const lastSeq = new Float64Array(envs);
  const movedMs = new Float64Array(envs);

  function stateOf(env: number, lost: boolean, now: number): number {
    const seq = words.seq[env] as number;
    if (seq !== lastSeq[env] || words.owed[env] === 0) {
      lastSeq[env] = seq;
      movedMs[env] = now;
    }
    if (words.retired[env] === 1) return ENV_STATE_CODE.quarantined;
    if (lost) return ENV_STATE_CODE.lost;
    if (seq === 0) return ENV_STATE_CODE['not-started'];
    if (now - (movedMs[env] as number) >= SLOW_AFTER_MS) return ENV_STATE_CODE.slow;
    return (words.epoch[env] as number) > 0 ? ENV_STATE_CODE.restarted : ENV_STATE_CODE.live;
  }

  return {
    last: states,
    read() {
      const now = nowMs();
      for (const post of posts) {
        for (const block of post.blocks) {
          const { firstEnvId, slots } = specOf(post.planned, block);
          post.segment.slotWords(block, words, firstEnvId);
          for (let env = firstEnvId; env < firstEnvId + slots; env++) states[env] = stateOf(env, post.state === 'lost', now);
        }
      }
      return states;
    },
  };
}
