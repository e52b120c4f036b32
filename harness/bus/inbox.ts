// The receiving half that all channels share: listeners, messages that came before the first of them, and a close that happens once.
import assert from 'node:assert/strict';
import { MAX_EARLY_MESSAGES } from './channel.js';

export interface Inbox<In> {
  readonly closed: boolean;
  deliver(message: In): void;
  close(): void;
  onMessage(listener: (message: In) => void): void;
  onClose(listener: () => void): void;
}

export function createInbox<In>(): Inbox<In> {
  const listeners: ((message: In) => void)[] = [];
  const closers: (() => void)[] = [];
  let early: In[] = [];
  let closed = false;
  const deliver = (message: In): void => {
    if (closed) return;
    if (listeners.length === 0) {
      assert(early.length < MAX_EARLY_MESSAGES, 'a channel got messages and nobody listens');
      early.push(message);
      return;
    }
    for (const listener of listeners) listener(message);
  };
  return {
    get closed() {
      return closed;
    },
    deliver,
    close() {
      if (closed) return;
      closed = true;
      for (const closer of closers) closer();
    },
    onMessage(listener) {
      listeners.push(listener);
      const kept = early;
      early = [];
      // To all: the first message may have brought the listener for the next ones.
      for (const message of kept) deliver(message);
    },
    onClose(listener) {
      if (closed) listener();
      else closers.push(listener);
    },
  };
}
