// What the measuring of a row is given: how long, how often, the load of the machine, and where Python is.
import type { BenchContext } from '../bench.js';
import type { VenvOf } from './launch-peer.js';

export interface PeerContext extends BenchContext {
  readonly venvOf: VenvOf;
  /** Whether a disturbed window or start is taken again, a bounded number of times. */
  readonly retake: boolean;
  /** Base of the random order of each round. */
  readonly seed: number;
}

/** A build, an import or an update that takes longer is a failure of the contender. */
export const READY_LIMIT_MS = 180_000;
/** Beyond its own seconds, an order's answer may take so long: an update of the slowest learner on a busy machine. */
export const ANSWER_GRACE_MS = 300_000;
