// What the supervisor's parts share for one run: memory, plan, budgets, and where to report. Made once by raise-crew.ts.
import type { FromLearner, FromWorker, ToLearner, ToWorker } from '../contract/messages.js';
import type { Death } from '../contract/run-record.js';
import type { Control, ErrorTables } from '../memory/control.js';
import type { Memory, Segment } from '../memory/interface.js';
import type { CrewEvent, CrewOptions } from './crew.js';
import type { EnvEvents } from './env-events.js';
import type { HealthCounts } from './health-counts.js';
import type { RunBudget } from './run-budget.js';
import type { SeatCgroup } from './seat-cgroup.js';
import type { Child } from './spawn.js';
import type { StartGate } from './start-gate.js';

export type WorkerChild = Child<ToWorker, FromWorker>;
export type LearnerChild = Child<ToLearner, FromLearner>;

/** A started executor and where it finds its shared memory. */
export interface Launched {
  readonly child: WorkerChild;
  readonly controlFd: number;
  readonly errorsFd: number;
  readonly segmentFd: number;
}

export interface CrewPorts {
  readonly options: CrewOptions;
  readonly memory: Memory;
  readonly control: Control;
  readonly errors: ErrorTables;
  readonly counts: HealthCounts;
  readonly envEvents: EnvEvents;
  /** Number of worker seats; the control page has one line more, the learner's. */
  readonly workers: number;
  /** Starts the executor of a seat on this segment: a process, or a thread in the seat's host. */
  readonly launchWorker: (worker: number, segment: Segment) => Launched;
  readonly launchLearner: (segments: readonly Segment[]) => LearnerChild;
  /** The cgroup that a seat has to itself; null where there is none. */
  readonly cgroupOf: (worker: number) => SeatCgroup | null;
  /** Restarts of all workers together. */
  readonly runBudget: RunBudget;
  readonly gate: StartGate;
  /** In [0, 1). */
  readonly random: () => number;
  /** How long after SIGKILL a death may stay unconfirmed before the seat gets fresh memory. */
  readonly confirmMs: number;
  readonly emit: (event: CrewEvent) => void;
  readonly die: (death: Omit<Death, 'run_s'>) => void;
  /** The run cannot go on. Only the first call counts. */
  readonly fail: (error: Error) => void;
}
