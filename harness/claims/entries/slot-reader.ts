// Thread: for each order it is sent, reads frames from all slots in turn, looks whether each is whole, and counts. Its bound is a number of
// reads and a time.
import { parentPort } from 'node:worker_threads';
import { type ReaderReport, type SlotOrder, STOP } from '../rigs/slot-run.js';
import { isWhole, openSlots } from '../rigs/slot-schemes.js';

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function readAll(order: SlotOrder, stop: Int32Array): ReaderReport {
  const { scheme, envs, holdMs, reads: wanted, limitMs, memory } = order;
  const slots = openSlots(memory, scheme);
  const frame = new Int32Array(memory.frameWords);
  const last = new Int32Array(envs);
  const hold = holdMs > 0 ? (): void => void Atomics.wait(sleeper, 0, 0, holdMs) : (): void => undefined;
  let [reads, fresh, torn, refused] = [0, 0, 0, 0];
  while (Atomics.load(stop, STOP.ready) === 0) Atomics.wait(stop, STOP.ready, 0, 100);
  Atomics.store(stop, STOP.go, 1);
  Atomics.notify(stop, STOP.go);
  const began = performance.now();
  for (let env = 0; reads < wanted && performance.now() - began < limitMs; env = (env + 1) % envs) {
    const number = slots.read(env, frame, hold);
    if (number < 0) refused++;
    if (number <= 0) continue;
    reads++;
    if (!isWhole(frame)) torn++;
    if (number !== last[env]) fresh++;
    last[env] = number;
  }
  return { reads, fresh, torn, refused, seconds: (performance.now() - began) / 1000 };
}

parentPort?.on('message', (order: SlotOrder) => {
  const stop = new Int32Array(order.stop);
  const report = readAll(order, stop);
  Atomics.store(stop, STOP.ended, 1);
  parentPort?.postMessage(report);
});
