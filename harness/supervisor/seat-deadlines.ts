// How long each operation of an env of one seat may take: asked by the watch for the env in work, at every look. Pure.
import type { EntryMessage, OperationDeadlines } from '../contract/messages.js';
import type { PlannedSegment } from './block-plan.js';

/** Null for an env id that is not of this seat (or -1). Seats have few blocks; the newest answer is tried first. */
export function seatDeadlines(
  { spec, entryOf }: Pick<PlannedSegment, 'spec' | 'entryOf'>,
  entries: readonly EntryMessage[],
): (envId: number) => OperationDeadlines | null {
  const ranges = spec.blocks.map(({ firstEnvId, slots }, index) => ({
    first: firstEnvId,
    end: firstEnvId + slots,
    deadlines: entries[entryOf[index] as number]?.deadlines ?? null,
  }));
  let newest = ranges[0];
  return (envId) => {
    if (newest === undefined || envId < newest.first || envId >= newest.end) {
      const found = ranges.find(({ first, end }) => envId >= first && envId < end);
      if (found === undefined) return null;
      newest = found;
    }
    return newest.deadlines;
  };
}
