// The thread host's process: dies with its supervisor, passes messages between it and the threads, leaves when asked to and its threads
// are gone. Forked with the fds of all its seats.
import { constants } from 'node:os';
import { loadNative } from '../../native/index.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { FromThreadHost, ToThreadHost } from '../contract/thread-messages.js';
import { type SeatThread, startSeatThread } from './seat-thread.js';

/** `ending`: SIGTERM came; every thread is asked to stop. */
export function beThreadHost(ending: AbortSignal): void {
  const threads = new Map<number, SeatThread>();
  const channel = ipcChannel<FromThreadHost, ToThreadHost>(process);
  // The supervisor lets go of a host whose last thread has ended; with threads it can only have died.
  channel.onClose(() => process.exit(threads.size === 0 ? CHILD_EXIT.stopped : CHILD_EXIT.orphaned));

  function stopAll(): void {
    if (threads.size === 0) process.exit(CHILD_EXIT.stopped);
    for (const thread of threads.values()) thread.send({ type: 'stop' });
  }

  function start(seat: number): void {
    threads.set(
      seat,
      startSeatThread({
        onMessage: (message) => channel.send({ type: 'message', seat, message }),
        onExit(end) {
          threads.delete(seat);
          channel.send({ type: 'exited', seat, ...end });
          if (ending.aborted && threads.size === 0) void channel.drained().then(() => process.exit(CHILD_EXIT.stopped));
        },
      }),
    );
  }

  if (ending.aborted) stopAll();
  ending.addEventListener('abort', stopAll);
  channel.onMessage((order) => {
    switch (order.type) {
      case 'host':
        if (!loadNative().dieWithParent(constants.signals.SIGKILL, order.parentPid)) process.exit(CHILD_EXIT.orphaned);
        return;
      case 'spawn':
        start(order.seat);
        return;
      case 'message':
        threads.get(order.seat)?.send(order.message);
        return;
      case 'terminate':
        threads.get(order.seat)?.send({ type: 'stop' });
        return;
      case 'kill':
        threads.get(order.seat)?.kill();
    }
  });
}
