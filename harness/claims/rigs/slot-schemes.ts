// Ways to hand a frame from one thread to another through shared memory, all written the same way on Atomics, so that a claim compares the ways
// and not two languages: a lock, two buffers with a 0/1 pointer as the account tells it, a sequence that the reader checks, a lease.
// One writer and one reader per env. A frame's words all hold its number: a reader can tell a whole one from a mixed one.

export const SCHEMES = ['lock-per-env', 'one-lock', 'flip', 'sequence', 'lease'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** Control words per env, 64 bytes apart so that envs do not share a line. */
const LINE_WORDS = 16;
const POINTER = 0;
const LOCK = 1;
const RELEASED = 2;
/** Frame buffers of an env: locks use the first. */
const CELLS = 2;
/** The one lock lies before the lines of the envs. */
const HEADER_WORDS = LINE_WORDS;

export interface SlotMemory {
  readonly control: SharedArrayBuffer;
  readonly frames: SharedArrayBuffer;
  readonly envs: number;
  readonly frameWords: number;
}

export function createSlotMemory(envs: number, frameBytes: number): SlotMemory {
  const frameWords = Math.ceil(frameBytes / 4);
  return {
    control: new SharedArrayBuffer((HEADER_WORDS + envs * LINE_WORDS) * 4),
    frames: new SharedArrayBuffer(envs * CELLS * frameWords * 4),
    envs,
    frameWords,
  };
}

export interface SlotFace {
  /** Writes frame `number` of `env`; false when the lease is not ours yet. */
  readonly write: (env: number, number: number) => boolean;
  /**
   * Copies the newest frame of `env` into `into`, calling `hold` between looking at its first word and at the rest, as a user of a view does.
   * Returns its number; 0: nothing new to read under a lease; -1: the reader's own check refused it and it must try again.
   */
  readonly read: (env: number, into: Int32Array, hold: () => void) => number;
}

/** A mutex of three states after Drepper's "Futexes are tricky": 0 free, 1 taken, 2 taken and somebody waits. */
function lock(words: Int32Array, at: number): void {
  let seen = Atomics.compareExchange(words, at, 0, 1);
  while (seen !== 0) {
    if (seen === 2 || Atomics.compareExchange(words, at, 1, 2) !== 0) Atomics.wait(words, at, 2);
    seen = Atomics.compareExchange(words, at, 0, 2);
  }
}

function unlock(words: Int32Array, at: number): void {
  if (Atomics.exchange(words, at, 0) === 2) Atomics.notify(words, at, 1);
}

/** One thread's face to the memory. */
export function openSlots(memory: SlotMemory, scheme: Scheme): SlotFace {
  const { envs, frameWords } = memory;
  const words = new Int32Array(memory.control);
  const line = (env: number): number => HEADER_WORDS + env * LINE_WORDS;
  const cells = Array.from({ length: envs * CELLS }, (_, i) => new Int32Array(memory.frames, i * frameWords * 4, frameWords));
  const cell = (env: number, which: number): Int32Array => cells[env * CELLS + which] as Int32Array;
  /** First word, the user's time, then all words: what a view sees that is read late. */
  const copyLate = (from: Int32Array, into: Int32Array, hold: () => void): void => {
    const first = from[0] as number;
    hold();
    into.set(from);
    into[0] = first;
  };
  if (scheme === 'lock-per-env' || scheme === 'one-lock') {
    const lockOf = (env: number): number => (scheme === 'one-lock' ? LOCK : line(env) + LOCK);
    return {
      write(env, number) {
        lock(words, lockOf(env));
        cell(env, 0).fill(number);
        unlock(words, lockOf(env));
        return true;
      },
      read(env, into, hold) {
        lock(words, lockOf(env));
        copyLate(cell(env, 0), into, hold);
        unlock(words, lockOf(env));
        return into[0] as number;
      },
    };
  }
  if (scheme === 'flip') {
    return {
      write(env, number) {
        const at = line(env) + POINTER;
        const next = 1 - Atomics.load(words, at);
        cell(env, next).fill(number);
        Atomics.store(words, at, next);
        return true;
      },
      read(env, into, hold) {
        copyLate(cell(env, Atomics.load(words, line(env) + POINTER)), into, hold);
        return into[0] as number;
      },
    };
  }
  if (scheme === 'sequence') {
    return {
      write(env, number) {
        cell(env, number % CELLS).fill(number);
        Atomics.store(words, line(env) + POINTER, number);
        return true;
      },
      read(env, into, hold) {
        const at = line(env) + POINTER;
        const number = Atomics.load(words, at);
        into.set(cell(env, number % CELLS));
        // The writer of number + 2 uses our cell; it begins only after number + 1 was published.
        if (Atomics.load(words, at) !== number) return -1;
        hold();
        return number;
      },
    };
  }
  return {
    write(env, number) {
      const at = line(env);
      if (Atomics.load(words, at + RELEASED) !== number - 1) return false;
      cell(env, number % CELLS).fill(number);
      Atomics.store(words, at + POINTER, number);
      return true;
    },
    read(env, into, hold) {
      const at = line(env);
      const number = Atomics.load(words, at + POINTER);
      if (Atomics.load(words, at + RELEASED) === number) return 0;
      copyLate(cell(env, number % CELLS), into, hold);
      Atomics.store(words, at + RELEASED, number);
      return number;
    },
  };
}

/** Whether all words of a copied frame are one number. */
export function isWhole(frame: Int32Array): boolean {
  const first = frame[0] as number;
  for (let i = 1; i < frame.length; i++) if (frame[i] !== first) return false;
  return true;
}
