// Repeats a measurement in windows and keeps the quiet ones. A window during which other work used more than 0.3 cores is taken again,
// a bounded number of times; when the machine never gets quiet, the least disturbed windows are kept and the row says so.
import type { RowName } from './bars.js';
import type { Row } from './bench.js';
import type { LoadMonitor } from './cpu-load.js';
import { estimate } from './estimate.js';

/** Two cores carry a worker and a consumer: a third of a core taken by others shows in every rate. */
export const MAX_FOREIGN_CORES = 0.3;
/** Attempts per wanted window before the runner settles for disturbed ones. */
const ATTEMPTS_PER_WINDOW = 3;

export interface WindowPlan {
  readonly windows: number;
  readonly load: LoadMonitor;
  readonly say: (line: string) => void;
  /** For progress lines. */
  readonly label: string;
}

export interface Window<Sample> {
  readonly sample: Sample;
  readonly foreignCores: number;
}

/** Takes `plan.windows` windows of `measure`; each sees its number, so that the sides of a ratio can swap their order. */
export async function takeWindows<Sample>(
  plan: WindowPlan,
  measure: (attempt: number) => Sample | Promise<Sample>,
): Promise<Window<Sample>[]> {
  const taken: Window<Sample>[] = [];
  let quiet = 0;
  for (let attempt = 0; quiet < plan.windows && attempt < plan.windows * ATTEMPTS_PER_WINDOW; attempt++) {
    plan.load.start();
    const sample = await measure(attempt);
    const foreignCores = plan.load.foreignCores();
    taken.push({ sample, foreignCores });
    const disturbed = foreignCores > MAX_FOREIGN_CORES;
    if (!disturbed) quiet++;
    plan.say(`${plan.label}: window ${attempt + 1}, foreign ${foreignCores.toFixed(2)} cores${disturbed ? ', disturbed: once more' : ''}`);
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
