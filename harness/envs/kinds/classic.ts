// What the small classic-control kinds share: one `vector` observation of f32, state kept as f64 for the whole range in one array (no
// object per env), and a face through which tests set the exact state.
import type { Env } from '../../contract/env.js';
import type { ActionSpace, Spaces } from '../../contract/spaces.js';

/** An env whose whole state is `stateLength` doubles per slot. Tests and golden trajectories write it directly. */
export interface ClassicEnv extends Env {
  readonly stateLength: number;
  /** Slot i's state starts at `i * stateLength`. */
  readonly states: Float64Array;
}

/** Stands for "no bound" of an f32 observation: finite, so that it survives JSON. */
export const F32_MAX = 3.4028234663852886e38;

/** One `vector` of f32 with symmetric or given bounds, rounded to f32 as the observations are. */
export function classicSpaces(low: readonly number[], high: readonly number[], action: ActionSpace): Spaces {
  return {
    observation: {
      vector: { dtype: 'f32', shape: [high.length], low: low.map(Math.fround), high: high.map(Math.fround) },
    },
    action,
  };
}

/** Uniform in [low, high), as NumPy's Generator.uniform maps its draw. */
export function between(uniform: number, low: number, high: number): number {
  return low + (high - low) * uniform;
}
