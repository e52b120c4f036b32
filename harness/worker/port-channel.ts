// The channel between a thread host and one of its threads, over the thread's message port. Both ends see the same typed messages that a
// worker process exchanges with its supervisor.
import type { Channel } from '../bus/channel.js';
import { createInbox } from '../bus/inbox.js';

/** What a thread's `parentPort` and the host's `Worker` have in common. */
type PortEnd = { postMessage(message: unknown): void } & { on(event: 'message', listener: (message: unknown) => void): unknown };

export function portChannel<Out, In>(end: PortEnd): Channel<Out, In> {
  const inbox = createInbox<In>();
  let dropped = 0;
  end.on('message', (message) => inbox.deliver(message as In));
  return {
    get open() {
      return !inbox.closed;
    },
    get dropped() {
      return dropped;
    },
    send(message) {
      if (inbox.closed) dropped++;
      else end.postMessage(message);
    },
    onMessage: inbox.onMessage,
    onClose: inbox.onClose,
    // A posted message lies in the other thread's queue already.
    drained: () => Promise.resolve(),
    close: inbox.close,
  };
}
