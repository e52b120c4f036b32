// The configurations that the torn-read harness runs through: cell sizes from 8 B to 600 kB, three paces, with and without lease.
// `share` is the part of all frames that a case contributes; large cells contribute few, or a run would take days.

export interface TornCase {
  readonly mode: 'lease' | 'peek' | 'blind' | 'flip';
  readonly cellBytes: number;
  readonly cells: number;
  readonly slots: number;
  readonly pace: 'flat' | 'burst' | 'slow';
  readonly share: number;
}

const lease = (cellBytes: number, cells: number, slots: number, pace: TornCase['pace'], share: number): TornCase => ({
  mode: 'lease',
  cellBytes,
  cells,
  slots,
  pace,
  share,
});
const peek = (cellBytes: number, cells: number, slots: number, pace: TornCase['pace'], share: number): TornCase => ({
  mode: 'peek',
  cellBytes,
  cells,
  slots,
  pace,
  share,
});

/** Shares add up to a little over 1. */
export const CLEAN_CASES: readonly TornCase[] = [
  lease(8, 2, 512, 'flat', 0.3),
  lease(64, 3, 64, 'burst', 0.1),
  lease(768, 2, 128, 'flat', 0.15),
  lease(4096, 5, 16, 'slow', 0.005),
  lease(65_536, 2, 8, 'burst', 0.01),
  lease(600_000, 2, 4, 'flat', 0.003),
  lease(600_000, 3, 4, 'slow', 0.001),
  peek(8, 2, 64, 'flat', 0.3),
  peek(64, 4, 16, 'burst', 0.1),
  peek(768, 2, 16, 'flat', 0.04),
  peek(4096, 3, 8, 'slow', 0.005),
  peek(65_536, 4, 2, 'burst', 0.01),
  peek(600_000, 2, 2, 'slow', 0.001),
  peek(600_000, 8, 1, 'flat', 0.0003),
];

/** Designs that tear; the harness must say so. */
export const MUTANTS: readonly (TornCase & { readonly what: string })[] = [
  { what: 'two buffers and a 0/1 pointer', mode: 'flip', cellBytes: 4096, cells: 2, slots: 1, pace: 'flat', share: 0.2 },
  { what: 'two buffers and a 0/1 pointer, large frames', mode: 'flip', cellBytes: 600_000, cells: 2, slots: 1, pace: 'flat', share: 0.003 },
  { what: 'a reader that does not validate', mode: 'blind', cellBytes: 4096, cells: 2, slots: 1, pace: 'flat', share: 0.1 },
  {
    what: 'a reader that does not validate, large frames',
    mode: 'blind',
    cellBytes: 600_000,
    cells: 2,
    slots: 1,
    pace: 'flat',
    share: 0.002,
  },
];

/** Command-line arguments of torn-frames for a case that contributes its share of `frames`. */
export function tornArguments(tornCase: TornCase, frames: number, seed: number, secondsMax: number): string[] {
  const { mode, cellBytes, cells, slots, pace, share } = tornCase;
  const options = { mode, 'cell-bytes': cellBytes, cells, slots, pace, frames: Math.ceil(frames * share), seed, seconds: secondsMax };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
