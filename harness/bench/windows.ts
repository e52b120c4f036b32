// Repeats a measurement in windows and keeps the quiet ones. A window during which other work used more than 0.3 cores is taken again,
// a bounded number of times; when the machine never gets quiet, the least disturbed windows are kept and the row says so.
import type { RowName } from './bars.js';
import type { BenchContext, Row } from './bench.js';
import type { LoadMonitor } from './cpu-load.js';
import { estimate } from './estimate.js';

/** Two cores carry a worker and a consumer: a third of a core taken by others shows in every rate. */
export const MAX_FOREIGN_CORES = 0.3;
/** Attempts per wanted window before the runner settles for disturbed ones. */
const ATTEMPTS_PER_WINDOW = 3;
/** /proc counts in 10 ms: a look must be long against that. */
const LOOK_MS = 200;

export interface WindowPlan {
  readonly windows: number;
  /** For progress lines. */
  readonly label: string;
}

/** What the runner gives every bench; see BenchContext. */
export type WindowContext = Pick<BenchContext, 'load' | 'say' | 'patienceMs'>;

export interface Window<Sample> {
  readonly sample: Sample;
  readonly foreignCores: number;
}

/** Looks until other work uses little, at most `limitMs`. Returns the milliseconds waited. */
export async function waitForQuiet(load: LoadMonitor, limitMs: number): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < limitMs) {
    load.start();
    await new Promise((later) => setTimeout(later, LOOK_MS));
    if (load.foreignCores() <= MAX_FOREIGN_CORES) break;
  }
  return performance.now() - began;
}

/** Takes `plan.windows` windows of `measure`; each sees its number, so that the sides of a ratio can swap their order. */
export async function takeWindows<Sample>(
  { load, say, patienceMs }: WindowContext,
  plan: WindowPlan,
  measure: (attempt: number) => Sample | Promise<Sample>,
): Promise<Window<Sample>[]> {
  const taken: Window<Sample>[] = [];
  let quiet = 0;
  let patienceLeftMs = patienceMs;
  for (let attempt = 0; quiet < plan.windows && attempt < plan.windows * ATTEMPTS_PER_WINDOW; attempt++) {
    patienceLeftMs -= await waitForQuiet(load, patienceLeftMs);
    load.start();
    const sample = await measure(attempt);
    const foreignCores = load.foreignCores();
    taken.push({ sample, foreignCores });
    const disturbed = foreignCores > MAX_FOREIGN_CORES;
    if (!disturbed) quiet++;
    say(`${plan.label}: window ${attempt + 1}, foreign ${foreignCores.toFixed(2)} cores${disturbed ? ', disturbed: once more' : ''}`);
  }
  // Stable sort: among equally disturbed windows the earlier come first.
  return taken.sort((a, b) => a.foreignCores - b.foreignCores).slice(0, plan.windows);
}

/** One row from windows that were taken: `pick` reads the row's number out of a sample. */
export function rowFrom<Sample>(name: RowName, windows: readonly Window<Sample>[], pick: (sample: Sample) => number, note = ''): Row {
  const disturbed = windows.filter((window) => window.foreignCores > MAX_FOREIGN_CORES).length;
  const warning = disturbed === 0 ? '' : `${disturbed} of ${windows.length} windows disturbed`;
  return {
    name,
    estimate: estimate(windows.map((window) => pick(window.sample))),
    foreignCores: Math.max(...windows.map((window) => window.foreignCores)),
    note: [note, warning].filter((part) => part !== '').join('; '),
  };
}
