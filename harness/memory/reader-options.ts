// What a batch reader is made from, and what it counts.

/** One part of a float matrix: which key, and how its cells become columns. out = in * scale + offset. */
export interface OutputPart {
  readonly key: string;
  /** `float`: one column per element. `pool`: [h,w,c] u8 averaged to [14,14,c]; h and w must be multiples of 14. */
  readonly transform: 'float' | 'pool';
  readonly scale: number;
  readonly offset: number;
}

/** `parts` make one Float32Array [limit x sum of columns]; `raw` copies one key unchanged in its own dtype. */
export type OutputSpec = { readonly name: string; readonly parts: readonly OutputPart[] } | { readonly name: string; readonly raw: string };

export interface ReaderOptions {
  /** Largest batch of one `collect`. */
  readonly batchLimit: number;
  readonly outputs: readonly OutputSpec[];
  /** Threads for cells of 16 KiB and more; 1 = gather on the calling thread. */
  readonly threads: number;
  /** Time between two steps of a row; 0 or left out: answers are let go as they come. */
  readonly stepPeriodMs?: number;
}

export interface ReaderStats {
  readonly collected: number;
  readonly torn: number;
  /** Frames seen with a sequence number other than the next one. Must stay 0. */
  readonly outOfOrder: number;
  readonly bytesCopied: number;
}
