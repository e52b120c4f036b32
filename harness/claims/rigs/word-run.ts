// Two threads on one page of shared memory: one writes an 8-byte word over and over, the other reads it and counts values that were never
// written; then each bumps a flag of its own. Where words and flags lie is what the claim compares.
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { loadNative } from '../../../native/index.js';
import { startClaimThread } from '../entry-url.js';

/** A page: begins on a line, so that offsets in it are places in lines. */
export const PAGE_BYTES = 4096;

export interface WordOrder {
  /** Thread 0 writes the word, thread 1 reads it. */
  readonly role: 0 | 1;
  readonly wordOffset: number;
  /** Of the two threads' own flags. */
  readonly flagOffsets: readonly [number, number];
  readonly ms: number;
  /** [0]: threads ready, [1]: threads done with the word. */
  readonly gate: SharedArrayBuffer;
}

export interface WordReport {
  readonly reads: number;
  readonly torn: number;
  /** Reads whose value differs from the one before: the reader sees a living word. */
  readonly changes: number;
  readonly bumps: number;
  readonly seconds: number;
}

export interface WordPair {
  readonly run: (places: Pick<WordOrder, 'wordOffset' | 'flagOffsets' | 'ms'>) => Promise<{ reader: WordReport; writer: WordReport }>;
  readonly close: () => Promise<void>;
}

/** Starts both threads on a page of their own. */
export function startWordPair(): WordPair {
  const fd = loadNative().createObject('envladder:claims-words', PAGE_BYTES);
  const threads: Worker[] = [0, 1].map((role) => startClaimThread('word-thread', { workerData: { fd }, name: `word-${role}` }));
  return {
    async run(places) {
      const gate = new SharedArrayBuffer(8);
      const [writer, reader] = (await Promise.all(
        threads.map(async (thread, role) => {
          const answer = once(thread, 'message');
          thread.postMessage({ ...places, role, gate });
          return (await answer)[0] as WordReport;
        }),
      )) as [WordReport, WordReport];
      return { reader, writer };
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.terminate()));
      closeSync(fd);
    },
  };
}
