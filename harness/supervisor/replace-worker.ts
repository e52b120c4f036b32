// Planned replacement of a worker's process: the new one boots beside the old and loads its modules; only when it is ready is the old one
// told to finish its step and leave. Then the range is fenced and handed over. Nothing is lost but open trajectories, no budget is charged.
// If the new one does not get ready, the old one goes on.
import { monotonicMs } from './clock.js';
import { endLife } from './end-life.js';
import type { Replacement } from './post.js';
import { clearLine } from './progress-reset.js';
import type { Seat } from './seat.js';
import type { WorkerLife } from './worker-life.js';

/** A step in work and closing envs (at most 2 s, run-worker.ts) come before the old one leaves; then SIGKILL. */
const LEAVE_MS = 5000;

const refused = (message: string): Replacement => ({ ok: false, message });

/** The new process once it is ready, or why there is none. A thread cannot boot beside the one it replaces: null, it starts later. */
async function boot(seat: Seat): Promise<WorkerLife | null | string> {
  if (seat.planned.executor === 'thread') return null;
  const mine = seat.start(seat.epoch + 1, []);
  seat.successor = mine;
  try {
    await mine.ready;
    return mine;
  } catch (error) {
    seat.successor = null;
    return `the new process did not get ready: ${mine.fatal?.message ?? (error as Error).message}`;
  }
}

/** Waits for the old one to leave; true when the kernel has confirmed that it is gone. */
async function leave(seat: Seat, old: WorkerLife): Promise<boolean> {
  old.send({ type: 'stop' });
  seat.segment.ringWork();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, LEAVE_MS, 'late');
  });
  const first = await Promise.race([old.child.exit, late]);
  clearTimeout(timer);
  if (first !== 'late') return true;
  const { confirmMs } = seat.ports;
  const ending = endLife({ child: old.child, cgroup: null, fence: () => seat.fence(seat.epoch + 1), graceMs: 0, confirmMs });
  return (await ending.done) === 'dead';
}

/** Gives the new life its blocks, with what is held against their envs now: some went out or came back while it booted. */
function handOver(seat: Seat, mine: WorkerLife): void {
  seat.life = mine;
  seat.state = 'up';
  seat.unsaid.startOver();
  const { barred, retired, slotBySlot } = seat.ledger.forStart(monotonicMs());
  if (seat.blocks.length > 0) mine.send({ type: 'grow', blocks: [...seat.blocks], out: { barred, retired, slotBySlot } });
  seat.unsaid.tell(mine.send);
  seat.segment.ringWork();
}

/** `abandon` ends the seat's old life as a death that could not be confirmed. */
export async function replaceWorker(seat: Seat, abandon: (old: WorkerLife) => void): Promise<Replacement> {
  const { worker } = seat.planned.spec;
  const old = seat.life;
  const beganMs = monotonicMs();
  if (seat.state !== 'up' || old === null || seat.successor !== null || seat.stopping)
    return refused(`worker ${worker} is not up (${seat.state}): it is not replaced`);
  const mine = await boot(seat);
  if (typeof mine === 'string') return refused(`worker ${worker} is not replaced: ${mine}`);
  // While the new one booted, the old one may have died (its post starts another), or the run may have ended.
  if (seat.life !== old || seat.state !== ('up' as Seat['state']) || seat.stopping) {
    mine?.child.kill('SIGKILL');
    seat.successor = null;
    return refused(`worker ${worker} died or was stopped while its replacement started: it is not replaced`);
  }
  seat.state = 'ending';
  seat.handingOver = true;
  const leftMs = monotonicMs();
  const gone = await leave(seat, old);
  seat.handingOver = false;
  seat.successor = null;
  if (!gone) {
    mine?.child.kill('SIGKILL');
    abandon(old);
    return refused(`worker ${worker}: the old process (pid ${old.child.pid}) cannot be confirmed dead`);
  }
  seat.life = null;
  if (seat.stopping) {
    mine?.child.kill('SIGKILL');
    await mine?.child.exit;
    seat.finish('stopped');
    return refused(`worker ${worker}: the run was stopped while it was being replaced`);
  }
  seat.epoch++;
  seat.fence(seat.epoch);
  clearLine(seat.ports.control, worker);
  seat.recovery.begin(leftMs, 'its replacement', 0);
  if (mine?.child.alive === true) handOver(seat, mine);
  else {
    seat.begin();
    await (seat.life as WorkerLife | null)?.ready.catch(() => undefined);
  }
  const pid = (seat.life as WorkerLife | null)?.child.pid ?? null;
  const detail = {
    pid,
    old_pid: old.child.pid,
    epoch: seat.epoch,
    boot_ms: Math.round(leftMs - beganMs),
    gap_ms: Math.round(monotonicMs() - leftMs),
  };
  const message = `worker ${worker} was replaced: pid ${old.child.pid} by ${pid}, epoch ${seat.epoch}`;
  seat.ports.emit({ type: 'worker-replaced', message, worker, detail });
  return { ok: true, message, detail };
}
