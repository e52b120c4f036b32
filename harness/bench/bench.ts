// What a bench is to the runner: a named piece of work that yields rows. A bench that cannot run here (a backend that is not built)
// yields rows without a value and says why; one that fails throws, and the runner goes on with the next.
import type { RowName } from './bars.js';
import type { LoadMonitor } from './cpu-load.js';
import type { Estimate } from './estimate.js';

export interface Row {
  readonly name: RowName;
  /** Null: not measured here, `note` says why. */
  readonly estimate: Estimate | null;
  /** Largest number of cores that other work used during a window; null where no window was timed (counts). */
  readonly foreignCores: number | null;
  readonly note: string;
}

export interface BenchContext {
  /** Shorter windows and fewer of them: to see that a bench runs, not to believe its figure. */
  readonly quick: boolean;
  readonly load: LoadMonitor;
  /** How long one set of windows may wait, in all, for the machine to become quiet. */
  readonly patienceMs: number;
  /** One line of progress for people; goes to stderr. */
  readonly say: (line: string) => void;
}

export interface Bench {
  readonly suite: 'micro' | 'process' | 'ppo' | 'learning';
  /** Names of all rows it yields, so that `--only` and `--list` work without running it. */
  readonly rows: readonly RowName[];
  run(context: BenchContext): Promise<readonly Row[]>;
}

/** A row that was not measured. */
export function skippedRow(name: RowName, why: string): Row {
  return { name, estimate: null, foreignCores: null, note: why };
}

/** A row that holds a count: nothing was timed, so nothing could disturb it. */
export function countedRow(name: RowName, value: number, note = ''): Row {
  return { name, estimate: { value, low: value, high: value, runs: 1 }, foreignCores: null, note };
}
