// What the process that has errors is told and how its ring lies on the disk; read by itself and by the claim. Pure.

/** `file-log`: a line for each error. `ring`: a ring of its own, written out once a minute. `tables`: tables in its supervisor's memory. */
export type ErrorSide = 'file-log' | 'ring' | 'tables';

export interface ErrorOrder {
  readonly side: ErrorSide;
  readonly seed: number;
  /** Where `file-log` and `ring` write. */
  readonly file: string;
  /** Errors of one minute; after each whole minute it says so and waits for the next order. */
  readonly perMinute: number;
  readonly minutes: number;
  /** Errors of the minute in which it is killed. */
  readonly last: number;
}

/** Where the tables are inherited. */
export const TABLES_FD = 4;
/** Fingerprint 8 B, env id u32, time u32 in milliseconds, sequence u32, 4 B unused: a ring entry without words. */
export const RING_ENTRY_BYTES = 24;
