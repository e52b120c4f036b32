// Builds and closes the slots of a range: bounded-parallel, each handed out to `claim` as soon as its constructor is done, and with
// pauses for the event loop so that slots already alive are stepped meanwhile.
import { envError } from './slot-failure.js';
import { closeSlot, constructSlot } from './slot-life.js';
import type { SlotTable } from './slot-table.js';

/** Synchronous constructors may hold the thread this long, together, before the step loop gets its turn: about 6 % of it goes to steps. */
const SLICE_MS = 15;

export interface ConstructOptions {
  /** Constructors in flight at once. */
  readonly parallel?: number;
  /** Called after each activation. */
  readonly onActive?: (index: number) => void;
  /** False: this slot is not built now; its owner sees to it. */
  readonly wanted?: (index: number) => boolean;
  readonly signal?: AbortSignal;
}

const breathe = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Constructs and activates the wanted slots; failing ones are recovered, or quarantined, and reported. Resolves with the number alive. */
export async function constructSlots(table: SlotTable, options: ConstructOptions = {}): Promise<number> {
  const { port, env, slots } = table;
  const parallel = Math.max(1, options.parallel ?? 8);
  const wanted = options.wanted ?? (() => true);
  let next = 0;
  let alive = 0;
  let sliceStart = performance.now();
  const activate = (index: number): void => {
    port.activate(index);
    alive++;
    options.onActive?.(index);
  };
  if (env.construct === undefined) {
    for (const { index } of slots) {
      if (!wanted(index)) continue;
      void constructSlot(table, index);
      activate(index);
    }
    return alive;
  }
  const sliceIsOver = (): boolean => performance.now() - sliceStart > SLICE_MS;
  /** One slice for all lanes: whoever comes first after the pause opens the next one, the others see what is left of it. */
  const pause = async (): Promise<void> => {
    while (sliceIsOver()) {
      const seen = sliceStart;
      await breathe();
      if (sliceStart === seen) sliceStart = performance.now();
    }
  };
  const lane = async (): Promise<void> => {
    while (next < slots.length && options.signal?.aborted !== true) {
      if (sliceIsOver()) await pause();
      if (next >= slots.length) return;
      const index = next++;
      if (!wanted(index)) continue;
      try {
        const built = constructSlot(table, index);
        if (built !== undefined) await built;
        // Its owner may have taken it out meanwhile.
        if (wanted(index)) activate(index);
        else await closeSlot(table, index);
      } catch (cause) {
        failUnbuilt(table, index, cause);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, slots.length) }, lane));
  return alive;
}

function failUnbuilt(table: SlotTable, index: number, cause: unknown): void {
  const error = envError(table, index, 'construct', cause);
  if (table.recover !== undefined) {
    table.recover(error, index);
    return;
  }
  table.port.quarantine(index);
  table.onFailure(error, table.port.spec.firstEnvId + index);
}

/** Closes every constructed slot, one after another; failures are reported through `table.onFailure`. */
export async function closeSlots(table: SlotTable): Promise<void> {
  for (const { index } of table.slots) await closeSlot(table, index);
}
