// Typed views of single cells, made on first use and kept: an env that is stepped one by one gets the same objects every D-th frame.
import { DTYPE_BYTES, type TypedArray, viewOf } from '../contract/dtype.js';
import type { BlockSpec } from './interface.js';

/** Returns the views of one cell by observation key. `buffers` are the planes in the order of `spec.keys`. */
export function cellViews(spec: BlockSpec, buffers: readonly ArrayBuffer[]): (slot: number, cell: number) => Record<string, TypedArray> {
  const cache: (Record<string, TypedArray> | undefined)[] = new Array(spec.slots * spec.cells);
  return (slot, cell) => {
    const index = slot * spec.cells + cell;
    const known = cache[index];
    if (known) return known;
    const views: Record<string, TypedArray> = {};
    spec.keys.forEach((key, i) => {
      const offsetBytes = index * key.elements * DTYPE_BYTES[key.dtype];
      views[key.key] = viewOf(key.dtype, buffers[i] as ArrayBuffer, offsetBytes, key.elements);
    });
    cache[index] = views;
    return views;
  };
}
