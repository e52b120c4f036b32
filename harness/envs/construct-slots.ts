// Builds and closes the slots of a range: bounded-parallel, each handed out to `claim` as soon as its constructor is done, and with
// pauses for the event loop so that slots already alive are stepped meanwhile. Deadlines belong to the supervisor.
import { closeSlot, envError } from './slot-failure.js';
import { noteProgress, type SlotTable } from './slot-table.js';

/** A synchronous constructor may hold the thread this long before the step loop gets its turn. */
const SLICE_MS = 5;

export interface ConstructOptions {
  /** Constructors in flight at once. */
  readonly parallel?: number;
  /** Called after each activation. */
  readonly onActive?: (index: number) => void;
  readonly signal?: AbortSignal;
}

const breathe = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Constructs and activates every slot; failing ones are quarantined and reported. Resolves with the number alive. */
export async function constructSlots(table: SlotTable, options: ConstructOptions = {}): Promise<number> {
  const { port, env, slots } = table;
  const parallel = Math.max(1, options.parallel ?? 8);
  let next = 0;
  let alive = 0;
  let sliceStart = performance.now();
  const activate = (index: number): void => {
    table.constructed[index] = 1;
    port.activate(index);
    alive++;
    options.onActive?.(index);
  };
  if (env.construct === undefined) {
    for (const slot of slots) activate(slot.index);
    return alive;
  }
  const lane = async (): Promise<void> => {
    while (next < slots.length && options.signal?.aborted !== true) {
      const slot = slots[next++];
      if (slot === undefined) continue;
      noteProgress(table, slot.envId, 'construct');
      try {
        const built: Promise<void> | undefined = env.construct?.(slot) ?? undefined;
        // A constructor that is not async is not awaited: 7,000 empty turns of the microtask queue are not free.
        if (built !== undefined) await built;
        activate(slot.index);
      } catch (cause) {
        const error = envError(table, slot.index, 'construct', cause);
        port.quarantine(slot.index);
        table.onFailure(error, slot.envId);
      }
      if (performance.now() - sliceStart > SLICE_MS) {
        await breathe();
        sliceStart = performance.now();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, slots.length) }, lane));
  noteProgress(table, -1, 'idle');
  return alive;
}

/** Closes every constructed slot, one after another; failures are reported through `table.onFailure`. */
export async function closeSlots(table: SlotTable): Promise<void> {
  for (const slot of table.slots) {
    if (table.constructed[slot.index] !== 1) continue;
    noteProgress(table, slot.envId, 'close');
    await closeSlot(table, slot.index);
  }
  noteProgress(table, -1, 'idle');
}
