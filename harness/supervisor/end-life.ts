// Ends a process that must not go on, in the order that keeps its memory safe: fence it, so that nothing it still does counts; ask with
// SIGTERM where it can hear; SIGKILL, with its whole cgroup where it has one; and wait for the kernel to confirm. Bounded by
// grace + confirm.
import type { WorkerChild } from './crew-ports.js';
import type { Seat } from './seat.js';
import type { SeatCgroup } from './seat-cgroup.js';
import type { WorkerLife } from './worker-life.js';

export interface EndLifeOptions {
  readonly child: Pick<WorkerChild, 'pid' | 'alive' | 'exit' | 'kill'>;
  readonly cgroup: Pick<SeatCgroup, 'kill'> | null;
  readonly fence: () => void;
  /** 0: it cannot hear (stopped, spinning, blocked), so nothing is waited for. */
  readonly graceMs: number;
  readonly confirmMs: number;
}

export interface Ending {
  /** `unconfirmed`: it got SIGKILL and nobody has said that it is gone. */
  readonly done: Promise<'dead' | 'unconfirmed'>;
  /** SIGKILL now. */
  hurry(): void;
}

export function endLife({ child, cgroup, fence, graceMs, confirmMs }: EndLifeOptions): Ending {
  let killed = false;
  let timer: NodeJS.Timeout;
  let settle: (outcome: 'dead' | 'unconfirmed') => void;
  const done = new Promise<'dead' | 'unconfirmed'>((resolve) => {
    settle = resolve;
  });
  const kill = (): void => {
    if (killed) return;
    killed = true;
    clearTimeout(timer);
    child.kill('SIGKILL');
    cgroup?.kill();
    timer = setTimeout(() => settle(child.alive ? 'unconfirmed' : 'dead'), confirmMs);
  };
  void child.exit.then(() => {
    clearTimeout(timer);
    settle('dead');
  });
  fence();
  child.kill('SIGTERM');
  if (graceMs > 0) timer = setTimeout(kill, graceMs);
  else kill();
  return { done, hurry: kill };
}

/** Ends the life that holds the seat, as its plan says. `life.killed` is set. */
export function endSeatLife(seat: Seat, life: WorkerLife): Promise<'dead' | 'unconfirmed'> {
  const { ports, planned } = seat;
  seat.state = 'ending';
  // What was judged by its silence (stopped, spinning, blocked) cannot hear SIGTERM.
  const hears = life.killed?.judged === undefined && life.isReady;
  return endLife({
    child: life.child,
    cgroup: ports.cgroupOf(planned.spec.worker),
    fence: () => seat.fence(seat.epoch + 1),
    graceMs: hears ? ports.options.plan.health.graceSeconds * 1000 : 0,
    confirmMs: ports.confirmMs,
  }).done;
}
