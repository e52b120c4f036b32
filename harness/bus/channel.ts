// A typed, ordered, message channel between two processes. Supervisor and children speak contract/messages.ts over
// it; frames and actions never do. A peer that died is an event here, never an exception: sends to it are dropped and counted.

export interface Channel<Out, In> {
  /** Whether the peer may still hear us. Turns false once, before `onClose` listeners run. */
  readonly open: boolean;
  /** Messages that were given to `send` after, or just before, the peer was gone. */
  readonly dropped: number;
  /** Queues a message; they arrive in order. Never throws for a dead peer. */
  send(message: Out): void;
  /** Messages that came before the first listener are kept for it (at most MAX_EARLY_MESSAGES; more is a programmer error). */
  onMessage(listener: (message: In) => void): void;
  /** Called once, also when the channel is closed already. No message is delivered after it. */
  onClose(listener: () => void): void;
  /** Resolves once everything sent so far was handed to the system, or the peer is gone: before a process exits of its own will. */
  drained(): Promise<void>;
  /** Closes this end; the peer sees `onClose`. */
  close(): void;
}

/** A channel's handshake is one message: more than this many unheard means that nobody will ever listen. */
export const MAX_EARLY_MESSAGES = 64;
