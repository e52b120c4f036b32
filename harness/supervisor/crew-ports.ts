// What the supervisor's parts share for one run: memory, plan, and where to report. Made once by raise-crew.ts.
import type { Death } from '../contract/run-record.js';
import type { Control, ErrorTables, Memory } from '../memory/interface.js';
import type { CrewEvent, CrewOptions } from './crew.js';
import type { HealthCounts } from './health-counts.js';

export interface CrewPorts {
  readonly options: CrewOptions;
  readonly memory: Memory;
  readonly control: Control;
  readonly errors: ErrorTables;
  readonly counts: HealthCounts;
  /** Number of worker seats: lines of the control page. */
  readonly workers: number;
  readonly workerEntry: URL;
  readonly learnerEntry: URL;
  readonly emit: (event: CrewEvent) => void;
  readonly die: (death: Omit<Death, 'run_s'>) => void;
  /** The run cannot go on. Only the first call counts. */
  readonly fail: (error: Error) => void;
}
