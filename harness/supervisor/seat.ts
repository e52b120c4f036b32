// The state of one worker seat, shared by what acts on it: its post (lives and deaths) and the planned replacement. One thread, no locks:
// every function leaves it whole before it awaits anything.
import type { Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import type { CrewPorts } from './crew-ports.js';
import type { EnvLedger } from './env-ledger.js';
import type { PostState } from './post.js';
import type { RecoveryClock } from './recovery-clock.js';
import type { Unsaid } from './unsaid.js';
import type { WorkerLife } from './worker-life.js';

export interface Seat {
  readonly ports: CrewPorts;
  readonly planned: PlannedSegment;
  readonly ledger: EnvLedger;
  readonly unsaid: Unsaid;
  readonly recovery: RecoveryClock;
  readonly blocks: number[];
  segment: Segment;
  state: PostState;
  epoch: number;
  stopping: boolean;
  /** The life that has the blocks; null between two lives. */
  life: WorkerLife | null;
  /** Boots beside it to take its place. Ended when `life` dies first: it stamps the seat's line, which is the next life's from then on. */
  successor: WorkerLife | null;
  /** `life` is being stopped for its successor: its exit is no death. */
  handingOver: boolean;
  /** Gives every block to `epoch`: nothing older can publish any more. */
  fence(epoch: number): void;
  /** Starts a process on the segment; `blocks` it takes up at once. */
  start(epoch: number, blocks: readonly number[]): WorkerLife;
  /** Starts the life that holds the seat from now on, under the epoch that is set. */
  begin(): void;
  /** Ends the seat. */
  finish(state: 'lost' | 'stopped'): void;
}
