// A BatchReader that hands out scripted frames, one row after the other, and remembers the answers. An observation is [row, frame number],
// so whatever is trained can be traced back to the frames it was made of. A frame follows only if the one before was answered, or if its
// flags say that its env was lost (a restarted worker publishes without an answer).
import { ABANDONED, QUARANTINED } from '../../harness/contract/frame-flags.js';
import type { BatchReader } from '../../harness/memory/interface.js';

export interface ScriptedFrame {
  readonly flags: number;
  readonly reward: number;
  /** Its observation is no number. */
  readonly spoilt?: boolean;
}

export const OBSERVATION = 'flat';

export function createScriptedReader(scripts: readonly (readonly ScriptedFrame[])[], batchLimit: number) {
  const next = scripts.map(() => 0);
  const answered = scripts.map(() => true);
  const commanded: number[] = [];
  const rowOf = new Int32Array(batchLimit);
  const reward = new Float64Array(batchLimit);
  const flags = new Uint8Array(batchLimit);
  const outputs = { [OBSERVATION]: new Float32Array(batchLimit * 2) };
  const finals = { [OBSERVATION]: new Float32Array(batchLimit * 2) };
  let cursor = 0;
  let taken = 0;

  const ready = (row: number): boolean => {
    const frame = scripts[row]?.[next[row] as number];
    return frame !== undefined && (answered[row] === true || (frame.flags & (ABANDONED | QUARANTINED)) !== 0);
  };
  const answer = (count: number, rows: Int32Array): void => {
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      if (answered[row] === true) throw new RangeError(`row ${row} has no frame to answer`);
      answered[row] = true;
    }
  };
  const reader: BatchReader = {
    rows: scripts.length,
    add: () => 0,
    drop: () => 0,
    replace: () => undefined,
    release: () => undefined,
    collect(limit) {
      let count = 0;
      for (let visited = 0; visited < scripts.length && count < limit; visited++) {
        const row = cursor;
        cursor = (cursor + 1) % scripts.length;
        if (!ready(row)) continue;
        const index = next[row] as number;
        const frame = scripts[row]?.[index] as ScriptedFrame;
        next[row] = index + 1;
        answered[row] = false;
        rowOf[count] = row;
        reward[count] = frame.reward;
        flags[count] = frame.flags;
        outputs[OBSERVATION]?.set([row, frame.spoilt === true ? Number.NaN : index], 2 * count);
        // Half a frame number: the final observation that same-step keeps beside the next episode's first one.
        finals[OBSERVATION]?.set([row, index - 0.5], 2 * count);
        count++;
      }
      taken += count;
      return count;
    },
    rowOf,
    reward,
    flags,
    outputs,
    finals,
    episodeCount: 0,
    episodeRow: new Int32Array(0),
    episodeReturn: new Float64Array(0),
    episodeLength: new Int32Array(0),
    response: () => ({ valueUs: [], count: [], maxUs: 0 }),
    lag: () => ({ valueUs: [], count: [], maxUs: 0 }),
    nextDueMs: () => 0,
    act: answer,
    commandReset(count, rows) {
      answer(count, rows);
      for (let i = 0; i < count; i++) commanded.push(rows[i] as number);
    },
    stats: { collected: 0, torn: 0, outOfOrder: 0, bytesCopied: 0 },
    latency: () => ({ valueUs: [], count: [], maxUs: 0 }),
    resetLatency: () => undefined,
  };
  return {
    reader,
    commanded,
    taken: () => taken,
    left: () => scripts.reduce((sum, script, row) => sum + script.length - (next[row] as number), 0),
  };
}
