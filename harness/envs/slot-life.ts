// One slot's way into the round and out of it: constructed, closed, failed. Constructors and closes that return a promise are held to the
// table's limits here; while a call blocks the thread, its op and stamp in the progress line are what the supervisor judges it by.
import { deadlineError, envError, type Operation } from './slot-failure.js';
import { beginOp, endOp, type SlotTable } from './slot-table.js';

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined)?.then === 'function';

/** Settles as `work` does, or rejects with a deadline error after `limitMs`. What `work` comes to after that is nobody's. */
function within(work: PromiseLike<unknown>, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!Number.isFinite(limitMs)) {
      work.then(() => resolve(), reject);
      return;
    }
    const timer = setTimeout(() => reject(deadlineError(limitMs / 1000)), limitMs);
    const settled = (then: () => void): void => {
      clearTimeout(timer);
      then();
    };
    work.then(
      () => settled(resolve),
      (cause: unknown) => settled(() => reject(cause)),
    );
  });
}

/**
 * Builds a slot's own resources. Returns a promise only where the kind's constructor does: 7,000 empty turns of the microtask queue are
 * not free. Throws (or rejects with) what the constructor throws; the caller names it.
 */
export function constructSlot(table: SlotTable, index: number): Promise<void> | undefined {
  const { env, constructed } = table;
  const slot = table.slots[index];
  if (slot === undefined) return undefined;
  slot.state = undefined;
  if (env.construct === undefined) {
    constructed[index] = 1;
    return undefined;
  }
  beginOp(table, slot.envId, 'construct');
  let built: unknown;
  try {
    built = env.construct(slot);
  } finally {
    endOp(table);
  }
  if (isThenable(built)) {
    return within(built, table.limits.constructMs).then(() => {
      constructed[index] = 1;
    });
  }
  constructed[index] = 1;
  return undefined;
}

/** Closes a slot's resources, once. A close that fails or outlives its limit is handed to `onError`, never thrown. */
export async function closeSlot(
  table: SlotTable,
  index: number,
  onError: (error: ReturnType<typeof envError>, envId: number) => void = table.onFailure,
): Promise<void> {
  const slot = table.slots[index];
  if (slot === undefined || table.constructed[index] !== 1) return;
  table.constructed[index] = 0;
  if (table.env.close === undefined) return;
  try {
    let closing: unknown;
    beginOp(table, slot.envId, 'close');
    try {
      closing = table.env.close(slot);
    } finally {
      endOp(table);
    }
    if (isThenable(closing)) await within(closing, table.limits.closeMs);
  } catch (cause) {
    onError(envError(table, index, 'close', cause), slot.envId);
  }
}

/**
 * Takes one slot out of the round. A table that recovers parks it and leaves the rest to `recover`; else the slot is closed, quarantined
 * and reported. The slot must be leased (claimed, or never started).
 */
export function failSlot(table: SlotTable, index: number, operation: Operation, cause: unknown): void {
  const error = envError(table, index, operation, cause);
  if (table.recover !== undefined) {
    table.port.park(index);
    table.recover(error, index);
    return;
  }
  table.port.quarantine(index);
  // closeSlot never rejects except through a throwing onFailure, which the report below throws first.
  void closeSlot(table, index).catch(() => undefined);
  table.onFailure(error, table.port.spec.firstEnvId + index);
}
