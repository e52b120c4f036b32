// Element types that may cross shared memory, their sizes, and the typed arrays that view them.
// Written once here so that layout, contract checks and encoders can never disagree about a width.

export type Dtype = 'u8' | 'i32' | 'f32' | 'f64';

export type TypedArray = Uint8Array | Int32Array | Float32Array | Float64Array;

export const DTYPES = ['u8', 'i32', 'f32', 'f64'] as const satisfies readonly Dtype[];

/** Width of one element in bytes. */
export const DTYPE_BYTES: Readonly<Record<Dtype, number>> = { u8: 1, i32: 4, f32: 4, f64: 8 };

/** A view of `length` elements of `dtype` at `byteOffset` of `buffer`. */
export function viewOf(dtype: Dtype, buffer: ArrayBuffer | SharedArrayBuffer, byteOffset: number, length: number): TypedArray {
  switch (dtype) {
    case 'u8':
      return new Uint8Array(buffer, byteOffset, length);
    case 'i32':
      return new Int32Array(buffer, byteOffset, length);
    case 'f32':
      return new Float32Array(buffer, byteOffset, length);
    case 'f64':
      return new Float64Array(buffer, byteOffset, length);
  }
}

/** The dtype a typed array holds, or undefined for anything that is not one of the four. */
export function dtypeOf(value: unknown): Dtype | undefined {
  if (value instanceof Float32Array) return 'f32';
  if (value instanceof Uint8Array) return 'u8';
  if (value instanceof Int32Array) return 'i32';
  if (value instanceof Float64Array) return 'f64';
  return undefined;
}
