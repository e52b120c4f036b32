// Whether what a batch holds of a frame can be computed with. Workers check rewards always but observations only now and then (`check:
// sampled`), and one row that is no number would spoil the loss of a whole update. One pass over floats that are read anyway.
import { FINAL } from '../contract/frame-flags.js';
import type { BatchReader } from '../memory/interface.js';
import type { ObservationPlan } from './observation-plan.js';

/** True when every float of row `i` of the batch is finite, and of its final observation where the flags say that there is one. */
export type RowIsFinite = (i: number, flags: number) => boolean;

export function createRowIsFinite(plan: Pick<ObservationPlan, 'planes' | 'outputs'>, reader: BatchReader): RowIsFinite {
  const floats = plan.planes.flatMap(({ dtype, columns }, p) =>
    dtype === 'u8' ? [] : [{ name: (plan.outputs[p] as { name: string }).name, columns }],
  );
  const finite = (from: BatchReader['outputs'], i: number): boolean => {
    for (const { name, columns } of floats) {
      const data = from[name] as Float32Array;
      // Zero times a number is zero, times anything else it is none: one branch for the row instead of one for each column.
      let sum = 0;
      for (let at = i * columns; at < (i + 1) * columns; at++) sum += (data[at] as number) * 0;
      if (sum !== 0) return false;
    }
    return true;
  };
  return (i, flags) => finite(reader.outputs, i) && ((flags & FINAL) === 0 || finite(reader.finals, i));
}
