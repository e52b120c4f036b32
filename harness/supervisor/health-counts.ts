// What went wrong so far, counted over the whole run and all lives: by env id and by operation. Written by the posts, read by health.
import type { CrewHealth } from './crew.js';

export interface HealthCounts extends Pick<CrewHealth, 'rebuilds' | 'failures'> {
  readonly deadlinesMissed: Record<keyof CrewHealth['deadlinesMissed'], number>;
}

/** Bounded: 8 bytes per planned env. */
export function createHealthCounts(envs: number): HealthCounts {
  return {
    rebuilds: new Uint32Array(envs),
    failures: new Uint32Array(envs),
    deadlinesMissed: { construct: 0, reset: 0, step: 0, close: 0 },
  };
}

/** Ids beyond the plan (a hostile or broken child) are let go. */
export function countEnvs(into: Uint32Array, envIds: readonly number[]): void {
  for (const envId of envIds) if (envId >= 0 && envId < into.length) into[envId] = (into[envId] as number) + 1;
}
