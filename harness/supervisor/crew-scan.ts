// Counts of the whole run from the control words of all seats; keeps the last for when the memory is gone.
import type { CrewScan } from './crew.js';
import type { WorkerPost } from './post.js';

export interface CrewScanner {
  scan(): CrewScan;
  /** What `scan` returned last. */
  readonly last: CrewScan;
}

export function createCrewScan(posts: readonly Pick<WorkerPost, 'segment' | 'blocks' | 'state'>[]): CrewScanner {
  let last: CrewScan = { published: 0, taken: 0, live: 0, quarantined: 0 };
  return {
    get last() {
      return last;
    },
    scan() {
      const sum = { published: 0, taken: 0, live: 0, quarantined: 0 };
      for (const post of posts) {
        for (const block of post.blocks) {
          const one = post.segment.scan(block);
          sum.published += one.published;
          sum.taken += one.taken;
          sum.quarantined += one.quarantined;
          // Envs of a lost range have frames, but nobody steps them any more.
          if (post.state !== 'lost') sum.live += one.live;
        }
      }
      last = sum;
      return sum;
    },
  };
}
