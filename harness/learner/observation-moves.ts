// Where observations go on the learner's side: from the reader's matrices to the networks and into rollout rows, and out of those again.
// Called by the agent for every batch; one scratch matrix per plane, as long as the largest batch.
import type { BatchReader } from '../memory/interface.js';
import type { ObservationPlan, ObservationPlane } from './observation-plan.js';
import { copyColumns, type Rollout } from './rollout.js';

export interface ObservationMoves {
  /** What `takeFinal` and `takeHeld` fill, ready for the networks. */
  readonly scratch: readonly Float32Array[];
  /** The batch's observations as floats; bytes of image planes are converted here. */
  asFloats(count: number): Float32Array[];
  /** Copies the observation of frame `i` of the batch to the next place of `row`. */
  store(i: number, row: number): void;
  /** Copies the final observation of frame `i` of the batch to row `k` of the scratch. */
  takeFinal(i: number, k: number): void;
  /** Copies the observation that a complete `row` waits on to row `k` of the scratch, and to the row's first place. */
  takeHeld(row: number, k: number): void;
}

/** Writes the observation at (row, t) of plane `p` as floats into row `i` of `to`; bytes become 0..1. */
export function readObservation(rollout: Rollout, p: number, row: number, t: number, to: Float32Array, i: number): void {
  const plane = rollout.planes[p] as Rollout['planes'][number];
  const { columns } = plane;
  const chunk = rollout.chunk(p, row);
  const at = rollout.offset(p, row, t);
  if (plane.dtype === 'u8') for (let c = 0; c < columns; c++) to[i * columns + c] = (chunk[at + c] as number) / 255;
  else copyColumns(chunk, at, to, i * columns, columns);
}

/** Moves between these three for one policy. */
export function createObservationMoves(
  { planes, outputs }: Pick<ObservationPlan, 'planes' | 'outputs'>,
  reader: BatchReader,
  rollout: Rollout,
  batchLimit: number,
): ObservationMoves {
  const scratch = planes.map((plane) => new Float32Array(batchLimit * plane.columns));
  const matrix = (from: BatchReader['outputs'], p: number) => from[(outputs[p] as { name: string }).name] as Float32Array | Uint8Array;
  return {
    scratch,
    asFloats: (count) =>
      planes.map((plane, p) => {
        const source = matrix(reader.outputs, p);
        if (source instanceof Float32Array) return source;
        const floats = scratch[p] as Float32Array;
        for (let i = 0; i < count * plane.columns; i++) floats[i] = (source[i] as number) / 255;
        return floats;
      }),
    store(i, row) {
      const t = rollout.length[row] as number;
      for (let p = 0; p < planes.length; p++) {
        const { columns } = planes[p] as ObservationPlane;
        copyColumns(matrix(reader.outputs, p), i * columns, rollout.chunk(p, row), rollout.offset(p, row, t), columns);
      }
    },
    takeFinal(i, k) {
      for (let p = 0; p < planes.length; p++) {
        const { columns, dtype } = planes[p] as ObservationPlane;
        const source = matrix(reader.finals, p);
        const to = scratch[p] as Float32Array;
        if (dtype === 'u8') for (let c = 0; c < columns; c++) to[k * columns + c] = (source[i * columns + c] as number) / 255;
        else copyColumns(source, i * columns, to, k * columns, columns);
      }
    },
    takeHeld(row, k) {
      for (let p = 0; p < planes.length; p++) {
        readObservation(rollout, p, row, rollout.horizon, scratch[p] as Float32Array, k);
        const chunk = rollout.chunk(p, row);
        const { columns } = planes[p] as ObservationPlane;
        copyColumns(chunk, rollout.offset(p, row, rollout.horizon), chunk, rollout.offset(p, row, 0), columns);
      }
    },
  };
}
