// How little the least busy env did in a tier's measured time: the smallest difference, env by env, between two looks at the control
// words. A sum or a mean would hide one env that stood still among thousands. Pure.

/** Frames published since the run began, by env id; NaN for an env that does not count (not started, quarantined, lost). */
export type EnvFrames = Float64Array;

export interface LeastFrames {
  readonly envId: number;
  readonly frames: number;
}

/** Over the envs that both looks counted; null when there is none. */
export function leastFramesBetween(from: EnvFrames | null, to: EnvFrames | null): LeastFrames | null {
  if (from === null || to === null) return null;
  let least: LeastFrames | null = null;
  for (let envId = 0; envId < Math.min(from.length, to.length); envId++) {
    const frames = (to[envId] as number) - (from[envId] as number);
    if (frames < (least?.frames ?? Number.POSITIVE_INFINITY)) least = { envId, frames };
  }
  return least;
}
