// One line of the control page, for a worker seat or the learner: plain words and stamps that its process stores and everyone reads. Nobody
// waits on them.
import { OP, type OpName, type Progress } from './control.js';
import { PROGRESS_LINE } from './layout.js';

/** Word positions inside the line. */
export const PROGRESS_WORD = { envId: 0, op: 1, loops: 2, framesLow: 3, epoch: 4, pid: 5, framesHigh: 6, span: 7 } as const;
export const PROGRESS_WORDS = 8;
/** Positions inside the stamps of the line. */
export const STAMP = { native: 0, loop: 1, op: 2 } as const;
export const STAMPS = 3;

const OP_NAMES = Object.fromEntries(Object.entries(OP).map(([name, number]) => [number, name])) as Record<number, OpName>;

export interface ProgressLine {
  readonly words: Int32Array;
  /** JavaScript has no atomic double; an aligned one is stored and loaded by one instruction. */
  readonly stamps: Float64Array;
}

/** The line that begins at `offsetBytes` of `buffer`. */
export function progressLine(buffer: ArrayBuffer, offsetBytes: number): ProgressLine {
  return {
    words: new Int32Array(buffer, offsetBytes, PROGRESS_WORDS),
    stamps: new Float64Array(buffer, offsetBytes + PROGRESS_LINE.nativeMs, STAMPS),
  };
}

/** What `line` says now. Words are read one by one: each is right, they need not belong to the same instant. */
export function readProgress({ words, stamps }: ProgressLine, worker: number): Progress {
  const word = (name: keyof typeof PROGRESS_WORD) => Atomics.load(words, PROGRESS_WORD[name]);
  return {
    worker,
    envId: word('envId'),
    span: Math.max(1, word('span')),
    op: OP_NAMES[word('op')] ?? 'idle',
    loops: word('loops') >>> 0,
    frames: (word('framesLow') >>> 0) + (word('framesHigh') >>> 0) * 2 ** 32,
    epoch: word('epoch'),
    nativeMs: stamps[STAMP.native] as number,
    loopMs: stamps[STAMP.loop] as number,
    opMs: stamps[STAMP.op] as number,
  };
}
