// The way from one life of a seat to the next: epoch + 1 everywhere, other memory where the old may still be written to, a wait that grows with
// every restart, and a place among the few that may boot at a time. Can be called off at any point of it.
import type { Segment } from '../memory/interface.js';
import { monotonicMs } from './clock.js';
import { clearLine } from './progress-reset.js';
import { backoffMs, type RestartBudget } from './restart-budget.js';
import { fellWithHost } from './run-budget.js';
import type { Seat } from './seat.js';

export interface NextLife {
  /** Starts it after a death of `cause`; `seat.state` is `waiting` until it begins. Returns why not, when fresh memory is needed and cannot be had. */
  go(cause: string): Error | null;
  /** The next life needs other memory: a writer may be left in this one, or its header is damaged. */
  needFresh(): void;
  /** A life has got ready or has ended: its place is free for others. */
  leaveGate(): void;
  cancel(): void;
}

export interface NextLifePorts {
  readonly seat: Seat;
  readonly budget: RestartBudget;
  readonly makeFresh: (epoch: number) => Segment;
  readonly onFresh: (old: Segment) => Promise<void>;
}

export function createNextLife({ seat, budget, makeFresh, onFresh }: NextLifePorts): NextLife {
  const { ports, planned } = seat;
  const { backoff } = ports.options.plan.health;
  let fresh = false;
  let timer: NodeJS.Timeout | undefined;
  let leave = (): void => undefined;

  function wait(): void {
    const ms = backoffMs(budget.used(monotonicMs()), backoff, ports.random());
    timer = setTimeout(() => {
      leave = ports.gate.enter(seat.begin);
    }, ms);
  }

  /** What crashed may have damaged the header just before: the next life would refuse it, and the watch looks only once a second. */
  function lookForDamage(cause: string): void {
    // A thread's host that lives on has the fd of the old memory and no other.
    if (fresh || (planned.executor === 'thread' && !fellWithHost(cause))) return;
    const damage = seat.segment.damaged();
    if (damage === null) return;
    fresh = true;
    const { worker } = planned.spec;
    ports.emit({ type: 'alarm', message: `the memory of worker ${worker} is damaged: ${damage}`, worker, detail: { damage } });
  }

  return {
    go(cause) {
      lookForDamage(cause);
      seat.epoch++;
      seat.state = 'waiting';
      clearLine(ports.control, planned.spec.worker);
      if (!fresh) {
        seat.fence(seat.epoch);
        wait();
        return null;
      }
      fresh = false;
      const old = seat.segment;
      try {
        seat.segment = makeFresh(seat.epoch);
      } catch (error) {
        return error as Error;
      }
      void onFresh(old).then(() => {
        if (seat.state === 'waiting') wait();
      });
      return null;
    },
    needFresh() {
      fresh = true;
    },
    leaveGate: () => leave(),
    cancel() {
      clearTimeout(timer);
      leave();
    },
  };
}
