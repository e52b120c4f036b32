// One writer thread and one reader thread on the same slots for a bounded number of reads: real concurrency, real torn reads, counted by the
// reader.

import { once } from 'node:events';
import type { ClaimContext, Samples, Taken } from '../claim.js';
import { startClaimThread } from '../entry-url.js';
import { createSlotMemory, type Scheme, type SlotMemory } from './slot-schemes.js';

export interface SlotRunOptions {
  readonly scheme: Scheme;
  readonly envs: number;
  readonly frameBytes: number;
  /** Pause of the writer after each round over the envs; 0 = it never rests. */
  readonly stepMs: number;
  /** How long the reader keeps a view before it reads the rest of it. */
  readonly holdMs: number;
  /** The reader ends after so many accepted reads ... */
  readonly reads: number;
  /** ... or after this time, whatever comes first. */
  readonly limitMs: number;
}

/** What both threads are given. `stop` [0]: ready threads, [1]: go, [2]: the reader has ended. */
export interface SlotOrder extends SlotRunOptions {
  readonly memory: SlotMemory;
  readonly stop: SharedArrayBuffer;
}
export const STOP = { ready: 0, go: 1, ended: 2, words: 3 } as const;

export interface ReaderReport {
  readonly reads: number;
  /** Of them, frames whose number differs from the env's last one. */
  readonly fresh: number;
  readonly torn: number;
  /** Reads that the reader's own check refused; they are not among `reads`. */
  readonly refused: number;
  readonly seconds: number;
}

export interface SlotRun extends ReaderReport {
  readonly written: number;
}

export interface SlotPair {
  /** One order at a time. Rejects when a thread fails. */
  readonly run: (options: SlotRunOptions) => Promise<SlotRun>;
  readonly close: () => Promise<void>;
}

/** Starts the two threads; each order gets memory of its own. */
export function startSlotPair(): SlotPair {
  const threads = ['slot-writer', 'slot-reader'].map((name) => startClaimThread(name, { name }));
  return {
    async run(options) {
      const order: SlotOrder = {
        ...options,
        memory: createSlotMemory(options.envs, options.frameBytes),
        stop: new SharedArrayBuffer(STOP.words * 4),
      };
      const answers = threads.map(async (thread) => {
        const answer = once(thread, 'message');
        thread.postMessage(order);
        return (await answer)[0] as unknown;
      });
      try {
        const [{ written }, report] = (await Promise.all(answers)) as [{ written: number }, ReaderReport];
        return { ...report, written };
      } finally {
        // Should the reader have failed, its writer must not go on for ever.
        Atomics.store(new Int32Array(order.stop), STOP.ended, 1);
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

/** Takes every side in turn on one pair of threads, which ends with it. */
export async function interleaveSlots<Side extends string>(
  context: ClaimContext,
  sides: readonly Side[],
  take: (context: ClaimContext, pair: SlotPair, side: Side) => Promise<Taken>,
): Promise<Samples> {
  const pair = startSlotPair();
  try {
    return await context.interleave(Object.fromEntries(sides.map((side) => [side, () => take(context, pair, side)])));
  } finally {
    await pair.close();
  }
}
