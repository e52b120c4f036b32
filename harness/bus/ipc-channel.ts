// The channel over Node's child IPC (a socket pair, fd 3 of the child). Both ends use structured clone ("advanced" serialization, set by
// the forking side): JSON would turn the infinite bounds of a space into null. The kernel closes it with either process.
import type { ChildProcess } from 'node:child_process';
import type { Channel } from './channel.js';
import { createInbox } from './inbox.js';

/** The part of ChildProcess and of a child's own `process` that carries messages. */
type IpcEnd = Pick<ChildProcess, 'connected' | 'disconnect'> & {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect' | 'error', listener: () => void): unknown;
};

/** Wraps one end of an IPC pair. Install it before the peer can have sent anything. */
export function ipcChannel<Out, In>(end: IpcEnd): Channel<Out, In> {
  const inbox = createInbox<In>();
  let dropped = 0;
  end.on('message', (message) => inbox.deliver(message as In));
  end.on('disconnect', () => inbox.close());
  // A spawn that failed or a write into a broken pipe arrives here; without a listener it would end this process.
  end.on('error', () => {
    if (!end.connected) inbox.close();
  });
  // The peer may be gone before this module was loaded; its 'disconnect' is not repeated.
  if (!end.connected) inbox.close();
  let inFlight = 0;
  let waiting: (() => void)[] = [];
  const settle = (): void => {
    if (inFlight > 0 && !inbox.closed) return;
    for (const done of waiting) done();
    waiting = [];
  };
  const sent = (error: Error | null): void => {
    inFlight--;
    if (error !== null) dropped++;
    settle();
  };
  inbox.onClose(settle);
  return {
    get open() {
      return !inbox.closed && end.connected;
    },
    get dropped() {
      return dropped;
    },
    send(message) {
      if (inbox.closed || !end.connected || end.send === undefined) {
        dropped++;
        return;
      }
      try {
        inFlight++;
        end.send(message, sent);
      } catch (error) {
        inFlight--;
        // ERR_IPC_CHANNEL_CLOSED when the peer died between the check and the write. Anything else (a message that cannot be cloned)
        // is our own mistake and stays loud.
        if ((error as NodeJS.ErrnoException).code !== 'ERR_IPC_CHANNEL_CLOSED') throw error;
        dropped++;
      }
    },
    onMessage: inbox.onMessage,
    onClose: inbox.onClose,
    drained() {
      return new Promise((done) => {
        waiting.push(done);
        settle();
      });
    },
    close() {
      if (end.connected) end.disconnect();
      inbox.close();
    },
  };
}
