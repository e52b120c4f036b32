// Thread: for each order it is sent, writes frames into all slots, round by round, until the reader has ended. Under a lease a slot that is not
// free is passed over.
import { parentPort } from 'node:worker_threads';
import { type SlotOrder, STOP } from '../rigs/slot-run.js';
import { openSlots } from '../rigs/slot-schemes.js';

const sleeper = new Int32Array(new SharedArrayBuffer(4));

parentPort?.on('message', (order: SlotOrder) => {
  const { scheme, envs, stepMs, memory } = order;
  const slots = openSlots(memory, scheme);
  const stop = new Int32Array(order.stop);
  const next = new Int32Array(envs).fill(1);
  let written = 0;
  const round = (): void => {
    for (let env = 0; env < envs; env++) {
      if (!slots.write(env, next[env] as number)) continue;
      next[env] = (next[env] as number) + 1;
      written++;
    }
  };
  // Every env has a frame before the reader looks.
  round();
  Atomics.add(stop, STOP.ready, 1);
  Atomics.notify(stop, STOP.ready);
  while (Atomics.load(stop, STOP.go) === 0) Atomics.wait(stop, STOP.go, 0, 100);
  while (Atomics.load(stop, STOP.ended) === 0) {
    round();
    if (stepMs > 0) Atomics.wait(sleeper, 0, 0, stepMs);
  }
  parentPort?.postMessage({ written });
});
