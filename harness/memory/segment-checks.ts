// What every segment demands before its slots change hands, in shared memory and in the twin: an epoch that fits, nobody newer, the same spec.
import { EnvladderError } from '../contract/errors.js';
import type { SegmentSpec } from './interface.js';
import { canonicalLayout, EPOCH_MAX } from './layout.js';

/** Throws for an epoch that the slot word cannot hold. */
export function checkEpoch(epoch: number): void {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > EPOCH_MAX) throw new RangeError(`epoch ${epoch} is outside 0..${EPOCH_MAX}`);
}

/** Throws `bad-segment` when a segment of `spec` cannot take over from one of `old`. */
export function checkSameSegment(old: SegmentSpec, spec: SegmentSpec): void {
  if (old.runId === spec.runId && canonicalLayout(old) === canonicalLayout(spec)) return;
  throw new EnvladderError(
    'bad-segment',
    `segment of worker ${spec.worker} cannot take over from that of worker ${old.worker} (run ${old.runId}): a replacement is made from the same spec`,
  );
}

/** The slots of a block belong to a later epoch than the one that wanted them. */
export function newerOwner(worker: number, block: number, epoch: number): EnvladderError {
  return new EnvladderError('worker-died', `worker ${worker}, block ${block}: cannot fence to epoch ${epoch}, a newer one owns it`, {
    detail: { fenced: true },
  });
}
