// How many bytes a run may log, and how many it has: 64 MB for six days (the account's run wrote 87 MB), scaled to the planned time, a
// megabyte at least. Log is what tells of errors; metrics, records and checkpoints are the run's results and have bounds of their own.
// What does not fit is counted instead of written.

const SIX_DAYS_S = 518_400;
const SIX_DAYS_BYTES = 64_000_000;
/** A short run may still say what went wrong: some hundred error reports. */
export const LEAST_BUDGET_BYTES = 1_000_000;
/** Kept back for the last report of a run, which says what the others could not. */
export const LAST_WORDS_BYTES = 128_000;

export interface LogBudget {
  readonly budgetBytes: number;
  readonly writtenBytes: number;
  readonly leftOutLines: number;
  /** Books a line; false: there is no room, it is counted as left out. The last words of a run may use what was kept back for them. */
  take(bytes: number, lastWords?: boolean): boolean;
}

export function logBudgetBytes(plannedSeconds: number): number {
  return Math.max(LEAST_BUDGET_BYTES, Math.round((SIX_DAYS_BYTES * plannedSeconds) / SIX_DAYS_S));
}

export function createLogBudget(budgetBytes: number): LogBudget {
  let writtenBytes = 0;
  let leftOutLines = 0;
  return {
    budgetBytes,
    get writtenBytes() {
      return writtenBytes;
    },
    get leftOutLines() {
      return leftOutLines;
    },
    take(bytes, lastWords = false) {
      if (writtenBytes + bytes > budgetBytes - (lastWords ? 0 : LAST_WORDS_BYTES)) {
        leftOutLines++;
        return false;
      }
      writtenBytes += bytes;
      return true;
    },
  };
}
