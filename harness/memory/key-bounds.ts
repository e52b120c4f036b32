// Bounds of an observation key as the native check wants them: one number or one per element, and whether a check can fail at all.
import type { KeySpec } from './interface.js';

export interface KeyBounds {
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** False for integer keys whose type cannot leave the bounds: their cells need no pass. */
  readonly needed: boolean;
}

const INTEGER_RANGE = { u8: [0, 255], i32: [-(2 ** 31), 2 ** 31 - 1] } as const;

/** Bounds of `key`, in double precision (f32 keys are compared after rounding the bound to f32, as the observation was). */
export function keyBounds(key: KeySpec): KeyBounds {
  const low = Float64Array.from(typeof key.low === 'number' ? [key.low] : key.low);
  const high = Float64Array.from(typeof key.high === 'number' ? [key.high] : key.high);
  const range = key.dtype === 'u8' || key.dtype === 'i32' ? INTEGER_RANGE[key.dtype] : undefined;
  const needed = range === undefined || low.some((b) => b > range[0]) || high.some((b) => b < range[1]);
  return { low, high, needed };
}
