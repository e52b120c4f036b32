// The segments that this learner reads, by worker: attached from inherited fds at the start, replaced while it runs when a worker's death
// could not be confirmed. Owns the fds: a segment that is let go leaves neither a mapping nor an fd behind.
import { closeSync, openSync } from 'node:fs';
import { EnvladderError } from '../contract/errors.js';
import type { LearnerStart } from '../contract/messages.js';
import type { Memory, Segment, SegmentSpec } from '../memory/interface.js';

export interface OpenSegments {
  /** A block's segment and mix entry. */
  find(worker: number, block: number): { readonly segment: Segment; readonly entry: number };
  /**
   * Attaches the segment behind `path` for `worker` and hands old and new to `swap`, then lets the old one go. Throws `bad-segment` when
   * it cannot be opened or belongs to another plan.
   */
  replace(worker: number, path: string, swap: (from: Segment, to: Segment) => void): void;
  close(): void;
}

export function openSegments(memory: Memory, listed: LearnerStart['segments']): OpenSegments {
  const open = listed.map(({ spec, fd, blockEntries }) => ({
    segment: memory.attachSegment(spec as unknown as SegmentSpec, fd),
    fd,
    blockEntries,
  }));
  const of = (worker: number) => {
    const found = open.find(({ segment }) => segment.spec.worker === worker);
    if (found === undefined) throw new Error(`worker ${worker} has no segment in this run`);
    return found;
  };
  const letGo = (segment: Segment, fd: number): void => {
    segment.close();
    // The twin has none.
    if (fd >= 0) closeSync(fd);
  };
  return {
    find(worker, block) {
      const { segment, blockEntries } = of(worker);
      const entry = blockEntries[segment.spec.blocks.findIndex((spec) => spec.id === block)];
      if (entry === undefined) throw new Error(`no block ${block} of worker ${worker} in this run`);
      return { segment, entry };
    },
    replace(worker, path, swap) {
      const place = of(worker);
      let fd: number;
      try {
        fd = openSync(path, 'r+');
      } catch (cause) {
        throw new EnvladderError(
          'bad-segment',
          `the new segment of worker ${worker} cannot be opened at ${path} (${(cause as Error).message}); its supervisor holds it open`,
          { cause },
        );
      }
      const { segment: from, fd: fromFd } = place;
      place.segment = memory.attachSegment(from.spec, fd);
      place.fd = fd;
      swap(from, place.segment);
      letGo(from, fromFd);
    },
    close() {
      for (const { segment, fd } of open) letGo(segment, fd);
    },
  };
}
