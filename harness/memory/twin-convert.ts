// Cells to matrix columns in plain JavaScript: the reference that native/src/convert.h is compared with.
import type { TypedArray } from '../contract/dtype.js';
import { POOLED, type ResolvedPart } from './batch-arrays.js';

/** Writes one part of one row. `row` starts at the row's first element; `part.byteOffset` is in bytes of the row. */
export function convertPart(part: ResolvedPart, cell: TypedArray, row: TypedArray): void {
  if (part.transform === 'raw') {
    row.set(cell as Float64Array);
    return;
  }
  const to = row.subarray(part.byteOffset / 4, (part.byteOffset + part.bytes) / 4);
  // Unscaled floats are copied, so that -0 stays -0, like the native copy.
  if (part.transform === 'float' && part.scale === 1 && part.offset === 0) {
    to.set(cell as Float64Array);
    return;
  }
  // Sums and products in f32, like the native loops.
  const scale = Math.fround(part.scale);
  const offset = Math.fround(part.offset);
  if (part.transform === 'float') {
    for (let i = 0; i < cell.length; i++) to[i] = Math.fround(Math.fround(Math.fround(cell[i] as number) * scale) + offset);
    return;
  }
  const tileRows = part.height / POOLED;
  const tileColumns = part.width / POOLED;
  const mean = Math.fround(scale / Math.fround(tileRows * tileColumns));
  for (let tileY = 0; tileY < POOLED; tileY++) {
    for (let tileX = 0; tileX < POOLED; tileX++) {
      for (let c = 0; c < part.channels; c++) {
        let sum = 0;
        for (let y = tileY * tileRows; y < (tileY + 1) * tileRows; y++) {
          for (let x = tileX * tileColumns; x < (tileX + 1) * tileColumns; x++)
            sum += cell[(y * part.width + x) * part.channels + c] as number;
        }
        to[(tileY * POOLED + tileX) * part.channels + c] = Math.fround(Math.fround(Math.fround(sum) * mean) + offset);
      }
    }
  }
}
