// One worker's seat: the segment it owns and the processes that hold it one after another. Starts a life, ends it when it must go, and when
// the kernel has confirmed its death starts the next one with epoch + 1, or gives the range up. Only one life at a time has blocks.
//
//   starting -> up -> (ending ->) waiting -> starting ...      lost: budget used up      stopped: told to stop
import { EnvladderError } from '../contract/errors.js';
import { isIncurable } from './child-error.js';
import { monotonicMs } from './clock.js';
import { deathCause, envToCharge } from './death-cause.js';
import { reportDeath, tellDeath } from './death-report.js';
import { type Deferred, deferred } from './deferred.js';
import { endLife } from './end-life.js';
import { createEnvLedger } from './env-ledger.js';
import { countEnvs } from './health-counts.js';
import type { WorkerPost, WorkerPostOptions } from './post.js';
import { clearLine } from './progress-reset.js';
import { createRecoveryClock } from './recovery-clock.js';
import { replaceWorker } from './replace-worker.js';
import { backoffMs, createRestartBudget } from './restart-budget.js';
import type { Seat } from './seat.js';
import { seatDeadlines } from './seat-deadlines.js';
import type { ExitStatus } from './spawn.js';
import { startLife, type WorkerLife } from './worker-life.js';
import { createWorkerNews } from './worker-news.js';

export function createWorkerPost({ ports, planned, segment, onLost, onFresh, makeFresh }: WorkerPostOptions): WorkerPost {
  const { options, control, counts, emit } = ports;
  const { health } = options.plan;
  const { worker } = planned.spec;
  const ready: Deferred<void> = deferred();
  const over: Deferred<void> = deferred();
  const blocks: number[] = [];
  const ledger = createEnvLedger(health);
  const news = createWorkerNews(ports, planned, ledger);
  const budget = createRestartBudget(health.workerBudget);
  const zombies: WorkerLife[] = [];
  let restarts = 0;
  let destroyed = false;
  /** The next life needs other memory: a writer may be left in this one, or its header is damaged. */
  let condemned = false;
  /** Blocks given while a life was still starting: it hears `grow` only once it is ready. */
  let unsaid: number[] = [];
  let backoff: NodeJS.Timeout | undefined;
  let leaveGate = (): void => undefined;

  const seat: Seat = {
    ports,
    planned,
    ledger,
    recovery: createRecoveryClock(worker, emit, () => blocks.length > 0),
    blocks,
    segment,
    state: 'starting',
    epoch: 0,
    stopping: false,
    life: null,
    successor: null,
    handingOver: false,
    fence(epoch) {
      for (const block of blocks) seat.segment.fence(block, epoch);
    },
    start: (epoch, taken) =>
      startLife(
        ports,
        seat.segment,
        { planned, epoch, blocks: taken, left: ledger.forStart(monotonicMs()) },
        {
          onMessage: (message, from) => {
            if (from === seat.life && !(seat.handingOver && message.type === 'stopped')) news.hear(message, from.epoch);
          },
          onReady: (from) => {
            if (from === seat.life) up(from);
          },
          onLate: (from) => {
            if (from === seat.life) post.kill('deadline');
            else from.child.kill('SIGKILL');
          },
          onExit: (status, from) => {
            if (from === seat.life && !seat.handingOver) ended(from, status);
          },
        },
      ),
    begin() {
      seat.state = 'starting';
      unsaid = [];
      seat.life = seat.start(seat.epoch, blocks);
    },
    finish(state) {
      seat.state = state;
      seat.life = null;
      over.resolve();
    },
  };

  function up({ child, epoch }: WorkerLife): void {
    leaveGate();
    if (seat.state === 'starting') seat.state = 'up';
    emit({
      type: restarts === 0 && epoch === 0 ? 'worker-started' : 'worker-restarted',
      message: `worker ${worker} is ready (pid ${child.pid}, epoch ${epoch})`,
      worker,
      detail: { pid: child.pid, epoch },
    });
    if (unsaid.length > 0) child.channel.send({ type: 'grow', blocks: unsaid });
    unsaid = [];
    ready.resolve();
  }

  /** The kernel has confirmed that the life is over. */
  function ended(life: WorkerLife, status: ExitStatus): void {
    leaveGate();
    if (!seat.stopping) {
      die(life, status, true);
      return;
    }
    const cause = destroyed ? 'it did not stop in time and was killed' : (life.killed?.cause ?? status.cause);
    const death = {
      worker,
      pid: life.child.pid,
      epoch: life.epoch,
      cause,
      progress: control.progress(worker),
      outputTail: status.outputTail,
      restarted: false,
    };
    if (destroyed) tellDeath(ports, death);
    else if (status.code !== 0 || life.killed !== null) reportDeath(ports, death);
    seat.finish('stopped');
  }

  /** `confirmed` false: it got SIGKILL and may still be there; what it wrote to is left to it. */
  function die(life: WorkerLife, status: ExitStatus, confirmed: boolean): void {
    const nowMs = monotonicMs();
    const progress = control.progress(worker);
    const { killed } = life;
    const cause = deathCause(status, killed?.cause ?? null, life.oomKills());
    const detectMs = killed === null ? Math.max(0, nowMs - (progress.nativeMs || nowMs)) : (killed.judged?.detectMs ?? 0);
    const hopeless = (life.fatal !== null && isIncurable(life.fatal.code)) || (!life.isReady && life.epoch === 0);
    const mayTry = !hopeless && budget.take(nowMs);
    const restarted = mayTry && ports.runBudget.take(nowMs);
    reportDeath(ports, {
      worker,
      pid: life.child.pid,
      epoch: life.epoch,
      cause,
      progress: killed?.judged === undefined ? progress : { ...progress, op: killed.judged.op, envId: killed.judged.envId },
      outputTail: status.outputTail,
      restarted,
      detectMs,
      detail: { ...(killed?.judged === undefined ? {} : { limit_ms: killed.judged.limitMs }), ...(confirmed ? {} : { confirmed: false }) },
    });
    const charged = envToCharge(cause, status.code, killed?.judged ?? progress);
    if (charged !== null) {
      countEnvs(counts.failures, [charged]);
      ledger.crashed(charged, nowMs);
    }
    seat.life = null;
    if (restarted) {
      restarts++;
      seat.recovery.begin(nowMs, cause, detectMs);
      next();
      return;
    }
    const error =
      life.fatal ??
      new EnvladderError(
        'worker-died',
        `worker ${worker} died (${cause})${life.isReady ? '' : ' before it was ready'}: ${status.outputTail.trim().slice(-500)}`,
      );
    seat.finish('lost');
    ready.reject(error);
    if (hopeless) ports.fail(error);
    else if (mayTry) {
      const { restarts: most, perSeconds } = health.runBudget;
      ports.fail(
        new EnvladderError(
          'worker-died',
          `more than ${most} restarts of workers within ${perSeconds} s (health.runBudget); the last: ${error.message}`,
        ),
      );
    }
    onLost(post);
  }

  /** Takes the seat to its next life. */
  function next(): void {
    seat.epoch++;
    seat.state = 'waiting';
    clearLine(control, worker);
    const enter = (): void => {
      leaveGate = ports.gate.enter(seat.begin);
    };
    const wait = (): void => {
      backoff = setTimeout(enter, backoffMs(budget.used(monotonicMs()), health.backoff, ports.random()));
    };
    if (!condemned) {
      seat.fence(seat.epoch);
      wait();
      return;
    }
    condemned = false;
    const old = seat.segment;
    try {
      seat.segment = makeFresh(post, seat.epoch);
    } catch (error) {
      emit({ type: 'warning', message: `worker ${worker} needs fresh memory and gets none: ${(error as Error).message}`, worker });
      seat.finish('lost');
      onLost(post);
      return;
    }
    void onFresh(post, old).then(() => {
      if (seat.state === 'waiting') wait();
    });
  }

  function abandon(life: WorkerLife): void {
    leaveGate();
    zombies.push(life);
    // Should it ever run again: its orders end here.
    life.child.channel.close();
    condemned = true;
    const status = { code: null, signal: null, cause: 'SIGKILL', outputTail: life.child.outputTail() };
    if (seat.stopping) seat.finish('stopped');
    else die(life, status, false);
  }

  const post: WorkerPost = {
    worker,
    planned,
    get segment() {
      return seat.segment;
    },
    get state() {
      return seat.state;
    },
    get pid() {
      return seat.life?.child.alive === true ? seat.life.child.pid : null;
    },
    get restarts() {
      return restarts;
    },
    get epoch() {
      return seat.epoch;
    },
    get report() {
      return news.report;
    },
    blocks,
    ledger,
    ready: ready.promise,
    over: over.promise,
    budgetLeft: budget.left,
    deadlinesOf: seatDeadlines(planned, options.entries),
    observe: (nowMs, progress) => seat.recovery.look(nowMs, progress, seat.epoch, post.pid),
    tell(message) {
      if (seat.state !== 'up' || seat.life === null) return false;
      seat.life.send(message);
      seat.segment.ringWork();
      return true;
    },
    onReply: news.onReply,
    grow(added) {
      if (added.length === 0 || seat.state === 'lost' || seat.state === 'stopped') return;
      blocks.push(...added);
      // A block allocated in a later life was never fenced for it.
      if (seat.epoch > 0) for (const block of added) seat.segment.fence(block, seat.epoch);
      if (!post.tell({ type: 'grow', blocks: added })) unsaid.push(...added);
    },
    stop() {
      if (seat.stopping) return;
      seat.stopping = true;
      seat.successor?.child.kill('SIGKILL');
      if (seat.state === 'waiting') {
        clearTimeout(backoff);
        leaveGate();
        seat.finish('stopped');
        return;
      }
      seat.life?.send({ type: 'stop' });
      seat.segment.ringWork();
    },
    kill(cause, judged) {
      const { life } = seat;
      if (life === null || life.killed !== null || (seat.state !== 'up' && seat.state !== 'starting')) return;
      life.killed = { cause, judged };
      seat.state = 'ending';
      if (judged?.cause === 'deadline' && judged.op !== 'idle') counts.deadlinesMissed[judged.op]++;
      // What was judged by its silence (stopped, spinning, blocked) cannot hear SIGTERM.
      const graceMs = judged === undefined && life.isReady ? health.graceSeconds * 1000 : 0;
      const cgroup = ports.cgroupOf(worker);
      const fence = (): void => seat.fence(seat.epoch + 1);
      void endLife({ child: life.child, cgroup, fence, graceMs, confirmMs: ports.confirmMs }).done.then((outcome) => {
        if (outcome === 'unconfirmed' && seat.life === life) abandon(life);
      });
    },
    condemn(reason) {
      condemned = true;
      post.kill(reason);
      // Threads of one host share its fds: only a new host sees the new memory.
      const pid = post.pid;
      if (planned.executor === 'thread' && pid !== null) process.kill(pid, 'SIGKILL');
    },
    destroy() {
      destroyed = true;
      for (const each of [seat.life, seat.successor, ...zombies]) each?.child.kill('SIGKILL');
    },
    replace: () => replaceWorker(seat, abandon),
  };
  seat.begin();
  return post;
}
