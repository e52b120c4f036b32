// Other memory for a seat whose old memory may still have a writer (a death that the kernel does not confirm) or is damaged: a segment of the
// same spec takes the control words over, the learner reads on there, and the old one is let go. Its pages live as long as somebody maps them.
import { availableParallelism } from 'node:os';
import type { Memory, Segment } from '../memory/interface.js';
import type { LearnerPost } from './learner-post.js';
import type { WorkerPost } from './post.js';

export interface FreshSegments {
  /** Throws `out-of-memory` when there is none to be had; the seat keeps the old one then. */
  make(post: Pick<WorkerPost, 'worker' | 'planned'>, epoch: number): Segment;
  /** Resolves when nobody of the run reads `old` any more. */
  handOver(post: Pick<WorkerPost, 'worker' | 'segment'>, old: Segment): Promise<void>;
  /** Every segment that is still open. */
  all(): Iterable<Segment>;
}

/** `segments`: those in use now, by seat; kept up to date here. */
export function createFreshSegments({
  memory,
  segments,
  learner,
}: {
  readonly memory: Memory;
  readonly segments: Segment[];
  readonly learner: Pick<LearnerPost, 'replaceSegment'>;
}): FreshSegments {
  const open = new Set(segments);
  return {
    make({ worker, planned }, epoch) {
      const old = segments[worker] as Segment;
      const fresh = memory.createSegment(planned.spec);
      try {
        // Those of groups that still sleep too: they have pages since their tier began.
        for (const { id } of planned.spec.blocks) if (old.isAllocated(id)) fresh.allocate(id, availableParallelism());
        fresh.takeOver(old, epoch);
      } catch (error) {
        fresh.close();
        throw error;
      }
      segments[worker] = fresh;
      open.add(fresh);
      return fresh;
    },
    async handOver({ worker, segment }, old) {
      await learner.replaceSegment(worker, `/proc/${process.pid}/fd/${segment.fd}`);
      open.delete(old);
      old.close();
    },
    all: () => open,
  };
}
