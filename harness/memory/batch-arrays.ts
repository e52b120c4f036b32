// The arrays that one reader fills again and again: per-row results, episode results, and the matrices of its outputs. Allocated once
// for the batch limit; pages that are never written (finals without same-step) cost address space only.
import { DTYPE_BYTES, type Dtype, type TypedArray, viewOf } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import type { KeySpec } from './interface.js';
import type { OutputPart, OutputSpec, ReaderOptions } from './reader-options.js';

/** Images are pooled to this many tiles per side. */
export const POOLED = 14;
/** u16 row sums of the pooling loop hold this many rows per tile. */
export const POOL_ROWS_MAX = 257;

export interface ResolvedPart {
  readonly key: string;
  readonly transform: 'raw' | 'float' | 'pool';
  readonly scale: number;
  readonly offset: number;
  /** First byte inside a row. */
  readonly byteOffset: number;
  readonly bytes: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

export interface ResolvedOutput {
  readonly name: string;
  readonly dtype: Dtype;
  /** Elements of one row. */
  readonly columns: number;
  readonly parts: readonly ResolvedPart[];
}

/** Columns that a part makes of a key. Throws `bad-plan` for images that cannot be pooled to 14 x 14. */
export function partColumns(part: OutputPart, key: KeySpec): number {
  if (part.transform === 'float') return key.elements;
  const [height = 0, width = 0, channels = 1] = key.shape;
  const image = key.dtype === 'u8' && (key.shape.length === 2 || key.shape.length === 3);
  if (!image || height % POOLED !== 0 || width % POOLED !== 0 || height / POOLED > POOL_ROWS_MAX) {
    throw new EnvladderError(
      'bad-plan',
      `key '${key.key}' is ${key.dtype}[${key.shape.join(',')}]: pool needs u8 [height, width, channels] with height and width multiples of ${POOLED} and at most ${POOLED * POOL_ROWS_MAX} rows`,
    );
  }
  return POOLED * POOLED * channels;
}

/** Resolves the outputs of a reader against the keys of the first block added. Throws `bad-plan` when a key is missing. */
export function resolveOutputs(outputs: readonly OutputSpec[], keys: readonly KeySpec[]): ResolvedOutput[] {
  const find = (name: string, output: string): KeySpec => {
    const key = keys.find((k) => k.key === name);
    if (key) return key;
    throw new EnvladderError(
      'bad-plan',
      `output '${output}' reads key '${name}', the block has ${keys.map((k) => `'${k.key}'`).join(', ')}`,
    );
  };
  return outputs.map((output) => {
    if ('raw' in output) {
      const key = find(output.raw, output.name);
      const bytes = key.elements * DTYPE_BYTES[key.dtype];
      const part = { key: key.key, transform: 'raw', scale: 1, offset: 0, byteOffset: 0, bytes, height: 0, width: 0, channels: 0 } as const;
      return { name: output.name, dtype: key.dtype, columns: key.elements, parts: [part] };
    }
    let columns = 0;
    const parts = output.parts.map((part): ResolvedPart => {
      const key = find(part.key, output.name);
      const own = partColumns(part, key);
      const [height = 0, width = 0, channels = 1] = key.shape;
      const byteOffset = columns * 4;
      columns += own;
      return {
        key: key.key,
        transform: part.transform,
        scale: part.scale,
        offset: part.offset,
        byteOffset,
        bytes: own * 4,
        height,
        width,
        channels,
      };
    });
    return { name: output.name, dtype: 'f32', columns, parts };
  });
}

/** A zeroed off-heap array: the addon keeps its address. */
export function offHeap(dtype: Dtype, length: number): TypedArray {
  return viewOf(dtype, new ArrayBuffer(length * DTYPE_BYTES[dtype]), 0, length);
}

/** Per-row and per-episode results of `collect`. */
export function rowArrays(options: ReaderOptions) {
  const n = options.batchLimit;
  return {
    rowOf: offHeap('i32', n) as Int32Array,
    reward: offHeap('f64', n) as Float64Array,
    flags: offHeap('u8', n) as Uint8Array,
    episodeRow: offHeap('i32', n) as Int32Array,
    episodeReturn: offHeap('f64', n) as Float64Array,
    episodeLength: offHeap('i32', n) as Int32Array,
  };
}
