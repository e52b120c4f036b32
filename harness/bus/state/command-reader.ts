// Takes commands out of the state store's stream, has them obeyed one after another, puts the answers back. Polls, because a blocking read
// would hide a half-open connection. What is no command is refused, answered and counted; a store that cannot be reached is asked again.
import type { CtlAnswer } from '../../contract/ctl.js';
import type { Obey } from '../obey-once.js';
import { type CommandRefusal, readCommand } from '../read-command.js';
import type { StateStore, StreamEntry } from './state-store.js';

const EVERY_MS = 250;
/** Commands of one poll; the rest wait in the store, where the stream's length is bounded. */
const COMMANDS_PER_POLL = 20;

/** Refusals, and commands that were pushed out of a full stream before they were read. */
export type CommandCounts = Partial<Record<CommandRefusal | 'overrun', number>>;

export interface CommandReaderOptions {
  readonly store: StateStore;
  /** Wrapped by `obeyOnce`: an entry may be delivered twice. */
  readonly obey: Obey;
  readonly onCount?: (what: CommandRefusal | 'overrun') => void;
  readonly everyMs?: number;
}

export interface CommandReader {
  refused(): CommandCounts;
  /** Ends after the command under way. */
  close(): Promise<void>;
}

export function startCommandReader({ store, obey, onCount, everyMs = EVERY_MS }: CommandReaderOptions): CommandReader {
  const counts: CommandCounts = {};
  let closed = false;
  let polling: Promise<void> | null = null;
  const count = (what: CommandRefusal | 'overrun', times = 1): void => {
    counts[what] = (counts[what] ?? 0) + times;
    for (let i = 0; i < times; i++) onCount?.(what);
  };
  const answerTo = async ({ text }: StreamEntry): Promise<CtlAnswer | null> => {
    const read = readCommand(text);
    if (read.ok) return obey(read.command);
    count(read.refusal);
    // Nobody can wait for an answer without an id.
    return read.id === '' ? null : { id: read.id, ok: false, message: read.message };
  };
  const poll = async (): Promise<void> => {
    try {
      const { commands, overrun } = await store.takeCommands(COMMANDS_PER_POLL);
      if (overrun > 0) count('overrun', overrun);
      for (const each of commands) {
        if (closed) return;
        const answer = await answerTo(each);
        // What could not be settled is delivered again, and then answered from memory.
        await store.settleCommand(each.entry, answer === null ? null : JSON.stringify(answer)).catch(() => undefined);
      }
    } catch {
      // The mirror says that the store is lost.
    }
  };
  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = null;
    });
  }, everyMs);
  return {
    refused: () => ({ ...counts }),
    async close() {
      closed = true;
      clearInterval(timer);
      await polling;
    },
  };
}
