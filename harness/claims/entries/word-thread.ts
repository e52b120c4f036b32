// Thread of the claim about alignment; see rigs/word-run.ts. Maps the page by its descriptor, so that offsets are true places in cache lines.
import { parentPort, workerData } from 'node:worker_threads';
import { loadNative } from '../../../native/index.js';
import { PAGE_BYTES, type WordOrder, type WordReport } from '../rigs/word-run.js';

const { fd } = workerData as { fd: number };
const native = loadNative();
const page = new native.Mapping(fd, 0, PAGE_BYTES).takeBuffer();
const bytes = new DataView(page);
const words = new Int32Array(page);

/** Two doubles whose low and high halves both differ: any mix of them is a third value. */
const [EVEN, ODD] = [bitsToDouble(0x1111_1111, 0x2222_2222), bitsToDouble(0x3333_3333, 0x3444_4444)];
/** Rounds between two looks at the clock. */
const BURST = 2000;

function bitsToDouble(low: number, high: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, low, true);
  view.setUint32(4, high, true);
  return view.getFloat64(0, true);
}

function meet(gate: Int32Array, word: number): void {
  Atomics.add(gate, word, 1);
  Atomics.notify(gate, word);
  for (let seen = Atomics.load(gate, word); seen < 2; seen = Atomics.load(gate, word)) Atomics.wait(gate, word, seen, 100);
}

function until(ms: number, burst: () => void): number {
  const began = performance.now();
  while (performance.now() - began < ms) burst();
  return (performance.now() - began) / 1000;
}

parentPort?.on('message', ({ role, wordOffset, flagOffsets, ms, gate: shared }: WordOrder) => {
  const gate = new Int32Array(shared);
  bytes.setFloat64(wordOffset, EVEN, true);
  meet(gate, 0);
  let [reads, torn, changes, last] = [0, 0, 0, EVEN];
  if (role === 0) {
    until(ms, () => {
      for (let i = 0; i < BURST; i++) {
        bytes.setFloat64(wordOffset, ODD, true);
        bytes.setFloat64(wordOffset, EVEN, true);
      }
    });
  } else {
    until(ms, () => {
      for (let i = 0; i < BURST; i++) {
        const value = bytes.getFloat64(wordOffset, true);
        if (value !== last) changes++;
        if (value !== EVEN && value !== ODD) torn++;
        last = value;
      }
      reads += BURST;
    });
  }
  meet(gate, 1);
  const flag = flagOffsets[role] / 4;
  let bumps = 0;
  const seconds = until(ms, () => {
    for (let i = 0; i < BURST; i++) Atomics.add(words, flag, 1);
    bumps += BURST;
  });
  parentPort?.postMessage({ reads, torn, changes, bumps, seconds } satisfies WordReport);
});
