// What a bench consumer gathers from each kind: every byte of the observation (raw), or the float matrix that a learner would be fed.
import type { OutputSpec } from '../memory/reader-options.js';

/** One float matrix over one flat key. */
export function floatOutput(key: string): OutputSpec[] {
  return [{ name: 'in', parts: [{ key, transform: 'float', scale: 1, offset: 0 }] }];
}

/** The account's shapes, every byte as it is. */
export const FIELD_RAW: readonly OutputSpec[] = [
  { name: 'rgb', raw: 'rgb' },
  { name: 'state', raw: 'state' },
  { name: 'vector', raw: 'vector' },
];

/** The account's shapes as the learner's `pool` encoder is fed: the image averaged to 14x14, the rest as floats. */
export const FIELD_POOLED: readonly OutputSpec[] = [
  {
    name: 'in',
    parts: [
      { key: 'rgb', transform: 'pool', scale: 1 / 255, offset: 0 },
      { key: 'state', transform: 'float', scale: 1, offset: 0 },
      { key: 'vector', transform: 'float', scale: 1, offset: 0 },
    ],
  },
];
