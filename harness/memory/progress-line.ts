// One worker's line on the control page: plain words that the worker stores and everyone reads. Nobody waits on them.
import { OP, type OpName, type Progress } from './interface.js';

/** Word positions inside the line. */
export const PROGRESS_WORD = { envId: 0, op: 1, loops: 2, framesLow: 3, epoch: 4, pid: 5, framesHigh: 6 } as const;
export const PROGRESS_WORDS = 16;

const OP_NAMES = Object.fromEntries(Object.entries(OP).map(([name, number]) => [number, name])) as Record<number, OpName>;

/** What the line of `worker` says now. Words are read one by one: each is right, they need not belong to the same instant. */
export function readProgress(words: Int32Array, worker: number): Progress {
  const word = (name: keyof typeof PROGRESS_WORD) => Atomics.load(words, PROGRESS_WORD[name]);
  return {
    worker,
    envId: word('envId'),
    op: OP_NAMES[word('op')] ?? 'idle',
    loops: word('loops') >>> 0,
    frames: (word('framesLow') >>> 0) + (word('framesHigh') >>> 0) * 2 ** 32,
    epoch: word('epoch'),
  };
}
