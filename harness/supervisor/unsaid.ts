// What a seat's worker still has to be told: blocks that came while it booted, and orders about single envs that no life has answered yet. A
// life may have got its start message before they came, or die before it obeys. Bounded: one order an env, the seat's blocks.
import type { ToWorker } from '../contract/messages.js';
import type { EnvLedger } from './env-ledger.js';
import type { WorkerNews } from './worker-news.js';

type EnvOrder = Extract<ToWorker, { type: 'quarantine' | 'release' }>;

export interface Unsaid {
  /** `sent`: a life is up and it is on its way there. An order is owed all the same until it is answered. */
  note(message: ToWorker, sent: boolean): void;
  /** A life begins whose start message, or whose first `grow`, holds every block. */
  startOver(): void;
  /** To a life that is up now. */
  tell(send: (message: ToWorker) => void): void;
}

export function createUnsaid(news: Pick<WorkerNews, 'onReply'>, ledger: Pick<EnvLedger, 'quarantine' | 'release'>): Unsaid {
  const orders = new Map<number, EnvOrder>();
  let blocks: number[] = [];
  news.onReply(({ envId, now }) => {
    orders.delete(envId);
    // Who asked may have stopped waiting.
    if (now === 'quarantined') ledger.quarantine(envId, true);
    else if (now === 'released') ledger.release(envId);
  });
  return {
    note(message, sent) {
      if (message.type === 'quarantine' || message.type === 'release') orders.set(message.envId, message);
      else if (message.type === 'grow' && !sent) blocks.push(...message.blocks);
    },
    startOver() {
      blocks = [];
    },
    tell(send) {
      if (blocks.length > 0) send({ type: 'grow', blocks });
      blocks = [];
      for (const order of orders.values()) send(order);
    },
  };
}
