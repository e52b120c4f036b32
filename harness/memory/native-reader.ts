// The learner's face of many blocks in shared memory. Everything per frame happens in the addon; this file allocates, names and checks.
// The addon's reader is made when the first block is added: only then the sizes of the outputs are known.
import type { NativeAddon, NativeBlock, NativeReader } from '../../native/index.js';
import type { TypedArray } from '../contract/dtype.js';
import { DTYPE_BYTES } from '../contract/dtype.js';
import { offHeap, type ResolvedOutput, resolveOutputs, rowArrays } from './batch-arrays.js';
import type { BatchReader, BlockSpec, Segment } from './interface.js';
import type { NativeSegment } from './native-segment.js';
import type { ReaderOptions } from './reader-options.js';
import { checkActions, checkSameLayout, checkSameSignature } from './reader-signature.js';

const TRANSFORM_NUMBER = { raw: 0, float: 1, pool: 2 } as const;
const STEP = 0;
const RESET = 1;
const NO_LATENCY = { valueUs: [], count: [], maxUs: 0 };
const EMPTY_STATS = { collected: 0, torn: 0, outOfOrder: 0, bytesCopied: 0 };

export function nativeReader(native: NativeAddon, options: ReaderOptions): BatchReader {
  const arrays = rowArrays(options);
  const periodNs = Math.round((options.stepPeriodMs ?? 0) * 1e6);
  const info = new Int32Array(new ArrayBuffer(16));
  const outputs: Record<string, TypedArray> = {};
  const finals: Record<string, TypedArray> = {};
  let reader: NativeReader | undefined;
  let resolved: ResolvedOutput[] = [];
  let first: BlockSpec | undefined;
  let rows = 0;
  let added: { segment: NativeSegment; readonly block: number }[] = [];

  const start = (spec: BlockSpec): NativeReader => {
    resolved = resolveOutputs(options.outputs, spec.keys);
    const matrices = resolved.map((output) => {
      const length = options.batchLimit * output.columns;
      const made = {
        rows: offHeap(output.dtype, length),
        finals: offHeap(output.dtype, length),
        rowBytes: output.columns * DTYPE_BYTES[output.dtype],
      };
      outputs[output.name] = made.rows;
      finals[output.name] = made.finals;
      return made;
    });
    const parts = resolved.flatMap((output, i) =>
      output.parts.map((part) => ({ ...part, output: i, transform: TRANSFORM_NUMBER[part.transform] })),
    );
    const { rowOf, reward, flags, episodeRow, episodeReturn, episodeLength } = arrays;
    const order = [rowOf, reward, flags, episodeRow, episodeReturn, episodeLength, info];
    return new native.Reader({ batchLimit: options.batchLimit, threads: options.threads, periodNs }, parts, matrices, order);
  };
  const blockOf = (segment: Segment, block: number): { native: NativeBlock; spec: BlockSpec } => {
    const spec = segment.spec.blocks.find((b) => b.id === block);
    if (!spec) throw new Error(`segment of worker ${segment.spec.worker} has no block ${block}`);
    return { native: (segment as NativeSegment).nativeBlock(block), spec };
  };
  const answer = (count: number, rowsToAnswer: Int32Array, actions: Int32Array | Float32Array | null, command: number) => {
    if (!reader || !first || count === 0) return;
    const bad = reader.answer(count, rowsToAnswer, actions, first.action.length * 4, command);
    if (bad >= 0) throw new RangeError(`row ${rowsToAnswer[bad]} has no frame to answer (entry ${bad} of ${count})`);
  };

  return {
    get rows() {
      return rows;
    },
    add(segment, block) {
      const found = blockOf(segment, block);
      if (first) checkSameSignature(first, found.spec);
      reader ??= start(found.spec);
      first ??= found.spec;
      const planeOf = resolved.flatMap((o) => o.parts.map((part) => found.spec.keys.findIndex((k) => k.key === part.key)));
      added.push({ segment: segment as NativeSegment, block });
      const row = reader.add(found.native, (segment as NativeSegment).workBell, Uint32Array.from(planeOf));
      rows = row + found.spec.slots;
      return row;
    },
    drop(segment, block) {
      added = added.filter((entry) => entry.segment !== segment || entry.block !== block);
      return reader?.drop(blockOf(segment, block).native) ?? 0;
    },
    replace(from, to) {
      const read = added.filter((entry) => entry.segment === from);
      for (const { block } of read) checkSameLayout(from, to, block);
      for (const entry of read) {
        const by = to as NativeSegment;
        reader?.replace(entry.segment.nativeBlock(entry.block), by.nativeBlock(entry.block), by.workBell);
        entry.segment = by;
      }
    },
    release(row) {
      if (!reader?.release(row)) throw new RangeError(`row ${row} is not read; this reader has ${rows} rows`);
    },
    collect: (limit) => reader?.collect(limit) ?? 0,
    ...arrays,
    outputs,
    finals,
    get episodeCount() {
      return info[0] as number;
    },
    act(count, rowsToAnswer, actions) {
      if (first) checkActions(first, count, rowsToAnswer, actions);
      answer(count, rowsToAnswer, actions, STEP);
    },
    commandReset: (count, rowsToAnswer) => answer(count, rowsToAnswer, null, RESET),
    get stats() {
      return reader?.stats() ?? EMPTY_STATS;
    },
    latency: () => reader?.latency() ?? NO_LATENCY,
    response: () => reader?.response() ?? NO_LATENCY,
    lag: () => reader?.lag() ?? NO_LATENCY,
    nextDueMs: () => reader?.nextDueMs() ?? 0,
    resetLatency: () => reader?.resetLatency(),
  };
}
