// A process that takes shared memory, maps it, touches every page, and waits to be killed: what it leaves behind is what the claim counts.
// Told what to make by its parent; ends with it.
import { ftruncateSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { loadNative } from '../../../native/index.js';
import { startTicksOf } from '../../store/process-identity.js';

export interface LeakOrder {
  /** `named`: POSIX shared memory, a name in /dev/shm. `memfd`: memory without a name. */
  readonly kind: 'named' | 'memfd';
  readonly segments: number;
  readonly bytes: number;
  /** In the name of a memfd, so that it can be found in /proc. */
  readonly tag: string;
}

/** Who made it is proven by pid and start time. */
export const leakName = (pid: number, ticks: number, index: number): string => `envladder-${pid}-${ticks}-${index}`;

const held: Uint8Array[] = [];

process.on('disconnect', () => process.exit(0));
process.on('message', (order: LeakOrder) => {
  const native = loadNative();
  native.dieWithParent(constants.signals.SIGKILL, process.ppid);
  for (let i = 0; i < order.segments; i++) {
    const fd =
      order.kind === 'memfd'
        ? native.createObject(`envladder:${order.tag}`, order.bytes)
        : openSync(`/dev/shm/${leakName(process.pid, startTicksOf(process.pid) ?? 0, i)}`, 'wx+');
    if (order.kind === 'named') ftruncateSync(fd, order.bytes);
    const view = new Uint8Array(new native.Mapping(fd, 0, order.bytes).takeBuffer());
    for (let at = 0; at < view.length; at += 4096) view[at] = 1;
    held.push(view);
  }
  process.send?.({ made: held.length });
});
