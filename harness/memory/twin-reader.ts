// The twin's learner side: the rules of native/src/reader.h in plain JavaScript.
import type { TypedArray } from '../contract/dtype.js';
import { ABANDONED, DONE, FINAL, FIRST, QUARANTINED } from '../contract/frame-flags.js';
import { offHeap, type ResolvedOutput, resolveOutputs, rowArrays } from './batch-arrays.js';
import type { BatchReader, BlockSpec, Segment } from './interface.js';
import { latencyBuckets } from './latency-buckets.js';
import type { ReaderOptions } from './reader-options.js';
import { checkActions, checkSameLayout, checkSameSignature } from './reader-signature.js';
import { COMMAND, cellIndex, cellOf, isRetired, type TwinBlock } from './twin-block.js';
import { convertPart } from './twin-convert.js';
import { goldenShare, letGo, type Row } from './twin-row.js';

/** What the reader needs of a twin segment beyond the public face. */
export interface TwinSegment extends Segment {
  twinBlock(block: number): TwinBlock;
}

export function twinReader(options: ReaderOptions, nowNs: () => number): BatchReader {
  const arrays = rowArrays(options);
  const outputs: Record<string, TypedArray> = {};
  const finals: Record<string, TypedArray> = {};
  const rows: Row[] = [];
  const stats = { collected: 0, torn: 0, outOfOrder: 0, bytesCopied: 0 };
  const latency = latencyBuckets();
  const response = latencyBuckets();
  const lag = latencyBuckets();
  const periodNs = Math.round((options.stepPeriodMs ?? 0) * 1e6);
  let resolved: ResolvedOutput[] | undefined;
  let first: BlockSpec | undefined;
  let cursor = 0;
  let episodeCount = 0;

  const start = (spec: BlockSpec) => {
    const made = resolveOutputs(options.outputs, spec.keys);
    for (const output of made) {
      outputs[output.name] = offHeap(output.dtype, options.batchLimit * output.columns);
      finals[output.name] = offHeap(output.dtype, options.batchLimit * output.columns);
    }
    return made;
  };
  const copy = (spec: BlockSpec, buffers: readonly ArrayBuffer[], cell: number, index: number, into: Record<string, TypedArray>) => {
    for (const output of resolved ?? []) {
      const matrix = into[output.name] as TypedArray;
      const row = matrix.subarray(index * output.columns, (index + 1) * output.columns) as TypedArray;
      for (const part of output.parts) {
        const key = spec.keys.findIndex((k) => k.key === part.key);
        convertPart(part, cellOf(spec, buffers, key, cell), row);
        stats.bytesCopied += part.bytes;
      }
    }
  };
  const countEpisode = (rowIndex: number, row: Row, flags: number, reward: number) => {
    if ((flags & (FIRST | ABANDONED | QUARANTINED)) !== 0) {
      row.episodeReturn = row.episodeLength = 0;
      return;
    }
    row.episodeReturn += reward;
    row.episodeLength++;
    if ((flags & DONE) === 0) return;
    arrays.episodeRow[episodeCount] = rowIndex;
    arrays.episodeReturn[episodeCount] = row.episodeReturn;
    arrays.episodeLength[episodeCount] = row.episodeLength;
    episodeCount++;
    row.episodeReturn = row.episodeLength = 0;
  };
  const release = (row: Row) => {
    const { block, slot } = row;
    if (!row.retired || row.taken !== block.seq[slot]) {
      row.releaseDue = isRetired(block, slot);
      return;
    }
    block.command[slot] = COMMAND.reset;
    block.answered[slot] = row.taken;
    row.retired = row.releaseDue = false;
    row.released = true;
    row.actionNs = row.dueNs = 0;
    row.segment.ringWork();
  };
  const move = (row: Row, segment: TwinSegment) => {
    const { block, slot } = row;
    const to = segment.twinBlock(block.spec.id);
    to.taken[slot] = row.taken;
    to.answered[slot] = block.answered[slot] as number;
    row.block = to;
    row.segment = segment;
  };
  const take = (rowIndex: number, index: number): boolean => {
    const row = rows[rowIndex] as Row;
    const { block, slot } = row;
    const seq = block.seq[slot] as number;
    if (row.pending || row.retired || seq === row.taken) return false;
    if (seq !== row.taken + 1) stats.outOfOrder++;
    if (seq < row.taken) return false;
    const cell = cellIndex(block.spec, slot, seq);
    const flags = block.flags[cell] as number;
    arrays.rowOf[index] = rowIndex;
    arrays.reward[index] = block.reward[cell] as number;
    arrays.flags[index] = flags;
    copy(block.spec, block.planes, cell, index, outputs);
    if ((flags & FINAL) !== 0 && block.finals.length > 0) copy(block.spec, block.finals, cell, index, finals);
    row.taken = block.taken[slot] = seq;
    row.retired = (flags & QUARANTINED) !== 0;
    row.pending = !row.retired;
    row.released = false;
    if (row.retired && row.releaseDue) release(row);
    if (row.actionNs > 0) latency.record((block.publishNs[slot] as number) - row.actionNs);
    if (row.actionNs > 0 && row.dueNs > 0) response.record((block.publishNs[slot] as number) - row.dueNs);
    countEpisode(rowIndex, row, flags, arrays.reward[index] as number);
    return true;
  };
  const letGoDue = () => {
    const stampNs = nowNs();
    const touched = new Set<Segment>();
    for (const row of rows) {
      if (!row.held || row.dueNs > stampNs) continue;
      lag.record(stampNs - row.dueNs);
      letGo(row, stampNs);
      touched.add(row.segment);
    }
    for (const segment of touched) segment.ringWork();
  };
  const answer = (count: number, rowsToAnswer: Int32Array, command: number, write: (row: Row, entry: number) => void) => {
    const stampNs = nowNs();
    const touched = new Set<Segment>();
    let bad = -1;
    for (let i = 0; i < count && bad < 0; i++) {
      const row = rows[rowsToAnswer[i] as number];
      if (row?.retired || row?.released) continue;
      if (!row?.pending) {
        bad = i;
        continue;
      }
      write(row, i);
      row.block.command[row.slot] = command;
      row.pending = false;
      if (periodNs > 0) {
        row.dueNs = row.dueNs > 0 ? row.dueNs + periodNs : stampNs + Math.floor(goldenShare(rowsToAnswer[i] as number) * periodNs);
        row.held = row.dueNs > stampNs;
        if (row.held) continue;
      }
      letGo(row, stampNs);
      touched.add(row.segment);
    }
    for (const segment of touched) segment.ringWork();
    if (bad >= 0) throw new RangeError(`row ${rowsToAnswer[bad]} has no frame to answer (entry ${bad} of ${count})`);
  };

  return {
    get rows() {
      return rows.length;
    },
    add(segment, blockId) {
      const block = (segment as TwinSegment).twinBlock(blockId);
      if (first) checkSameSignature(first, block.spec);
      resolved ??= start(block.spec);
      first ??= block.spec;
      const firstRow = rows.length;
      for (let slot = 0; slot < block.spec.slots; slot++) {
        const answered = block.answered[slot] as number;
        const seen = block.taken[slot] as number;
        const retired = seen === block.seq[slot] && seen !== answered && isRetired(block, slot);
        const taken = seen > answered && !retired ? answered : seen;
        // The cursor goes back with what is taken again, so that every frame counts once.
        block.taken[slot] = taken;
        const open = { actionNs: 0, dueNs: 0, held: false, episodeReturn: 0, episodeLength: 0 };
        rows.push({ block, segment, slot, taken, ...open, pending: false, retired, releaseDue: false, released: false, dropped: false });
      }
      return firstRow;
    },
    drop(segment, blockId) {
      const block = (segment as TwinSegment).twinBlock(blockId);
      let left = 0;
      for (const row of rows) {
        if (row.block !== block) continue;
        const seq = block.seq[row.slot] as number;
        left += Math.max(0, seq - row.taken);
        row.taken = block.taken[row.slot] = seq;
        row.pending = row.held = false;
        row.retired = row.dropped = true;
      }
      return left;
    },
    replace(from, to) {
      const read = rows.filter((row) => row.segment === from && !row.dropped);
      for (const id of new Set(read.map((row) => row.block.spec.id))) checkSameLayout(from, to, id);
      for (const row of read) move(row, to as TwinSegment);
      if (read.length > 0) to.ringWork();
    },
    release(at) {
      const row = rows[at];
      if (!row) throw new RangeError(`row ${at} is not read; this reader has ${rows.length} rows`);
      if (!row.dropped) release(row);
    },
    collect(limit) {
      episodeCount = 0;
      if (periodNs > 0) letGoDue();
      const most = Math.min(limit, options.batchLimit);
      let n = 0;
      for (let visited = 0; visited < rows.length && n < most; visited++) {
        if (take(cursor, n)) n++;
        cursor = (cursor + 1) % rows.length;
      }
      stats.collected += n;
      return n;
    },
    ...arrays,
    outputs,
    finals,
    get episodeCount() {
      return episodeCount;
    },
    act(count, rowsToAnswer, actions) {
      if (!first) return;
      checkActions(first, count, rowsToAnswer, actions);
      const { length } = first.action;
      answer(count, rowsToAnswer, COMMAND.step, (row, i) => {
        row.block.action.set(actions.subarray(i * length, (i + 1) * length), row.slot * length);
      });
    },
    commandReset: (count, rowsToAnswer) => answer(count, rowsToAnswer, COMMAND.reset, () => {}),
    get stats() {
      return { ...stats };
    },
    latency: () => latency.pairs(),
    response: () => response.pairs(),
    lag: () => lag.pairs(),
    nextDueMs: () => rows.reduce((first, { held, dueNs }) => (held && (first === 0 || dueNs / 1e6 < first) ? dueNs / 1e6 : first), 0),
    resetLatency() {
      for (const histogram of [latency, response, lag]) histogram.clear();
    },
  };
}
