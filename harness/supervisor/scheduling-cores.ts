// Which cores each process of a run is pinned to: one for every worker process, what is left for the learner, whose threads can use more
// than one. Nobody is pinned when that leaves the learner none. Pure.

export interface CoreShares {
  readonly learner: readonly number[];
  /** By process, as the block plan numbers them (`host`). */
  readonly workers: readonly (readonly number[])[];
}

/** Null when there are fewer cores than processes. The supervisor stays free: it is idle between its looks. */
export function shareCores(cores: readonly number[], processes: number): CoreShares | null {
  if (cores.length < processes + 1) return null;
  return { workers: Array.from({ length: processes }, (_, process) => [cores[process] ?? 0]), learner: cores.slice(processes) };
}
