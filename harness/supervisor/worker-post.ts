// One worker's seat: the segment it owns and the processes that hold it one after another. Starts a life, ends it when it must go, and when
// the kernel has confirmed its death starts the next one with epoch + 1, or gives the range up. Only one life at a time has blocks.
//
//   starting -> up -> (ending ->) waiting -> starting ...      lost: budget used up      stopped: told to stop
import { runBudgetError, workerDeathError } from './child-error.js';
import { monotonicMs } from './clock.js';
import { lookAtDeath } from './death-cause.js';
import { reportAtStop, reportDeath } from './death-report.js';
import { type Deferred, deferred } from './deferred.js';
import { endSeatLife } from './end-life.js';
import { createEnvLedger } from './env-ledger.js';
import { countEnvs } from './health-counts.js';
import { createNextLife } from './next-life.js';
import type { WorkerPost, WorkerPostOptions } from './post.js';
import { createRecoveryClock } from './recovery-clock.js';
import { replaceWorker } from './replace-worker.js';
import { createRestartBudget } from './restart-budget.js';
import { decideRestart } from './restart-decision.js';
import type { Seat } from './seat.js';
import { seatDeadlines } from './seat-deadlines.js';
import type { ExitStatus } from './spawn.js';
import { createUnsaid } from './unsaid.js';
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
  const unsaid = createUnsaid(news, ledger);
  const budget = createRestartBudget(health.workerBudget);
  const zombies: WorkerLife[] = [];
  let restarts = 0;
  let destroyed = false;

  const seat: Seat = {
    ports,
    planned,
    ledger,
    unsaid,
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
            // A polite end that was asked for to be rid of the process is told as what it is: a death, or a replacement.
            const told = message.type === 'stopped' && (seat.handingOver || from.killed !== null);
            if (from === seat.life && !told) news.hear(message, from.epoch);
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
      unsaid.startOver();
      seat.life = seat.start(seat.epoch, blocks);
    },
    finish(state) {
      seat.state = state;
      seat.life = null;
      over.resolve();
    },
  };

  const next = createNextLife({ seat, budget, makeFresh: (epoch) => makeFresh(post, epoch), onFresh: (old) => onFresh(post, old) });

  function up({ child, epoch }: WorkerLife): void {
    next.leaveGate();
    if (seat.state === 'starting') seat.state = 'up';
    emit({
      type: restarts === 0 && epoch === 0 ? 'worker-started' : 'worker-restarted',
      message: `worker ${worker} is ready (pid ${child.pid}, epoch ${epoch})`,
      worker,
      detail: { pid: child.pid, epoch },
    });
    unsaid.tell(child.channel.send);
    ready.resolve();
  }

  /** The kernel has confirmed that the life is over. */
  function ended(life: WorkerLife, status: ExitStatus): void {
    next.leaveGate();
    if (!seat.stopping) {
      die(life, status, true);
      return;
    }
    reportAtStop(ports, worker, life, status, destroyed);
    seat.finish('stopped');
  }

  /** `confirmed` false: it got SIGKILL and may still be there; what it wrote to is left to it. */
  function die(life: WorkerLife, status: ExitStatus, confirmed: boolean): void {
    seat.successor?.child.kill('SIGKILL');
    const nowMs = monotonicMs();
    const { cause, detectMs, progress, charged, suspects, detail } = lookAtDeath(life, status, control.progress(worker), nowMs);
    const { hopeless, mayTry, restarted } = decideRestart(life, status, { own: budget, run: ports.runBudget }, nowMs);
    reportDeath(ports, {
      worker,
      pid: life.child.pid,
      epoch: life.epoch,
      cause,
      progress,
      outputTail: status.outputTail,
      restarted,
      detectMs,
      detail: confirmed ? detail : { ...detail, confirmed },
    });
    if (charged !== null) {
      countEnvs(counts.failures, [charged]);
      ledger.crashed(charged, nowMs);
    }
    if (suspects !== null) ledger.suspect(suspects);
    seat.life = null;
    if (restarted) {
      restarts++;
      seat.recovery.begin(nowMs, cause, detectMs);
      const problem = next.go(cause);
      if (problem === null) return;
      emit({ type: 'warning', message: `worker ${worker} needs fresh memory and gets none: ${problem.message}`, worker });
      seat.finish('lost');
      onLost(post);
      return;
    }
    const error = workerDeathError(worker, life, cause, status.outputTail);
    seat.finish('lost');
    ready.reject(error);
    if (hopeless) ports.fail(error);
    else if (mayTry) ports.fail(runBudgetError(health.runBudget, error));
    onLost(post);
  }

  function abandon(life: WorkerLife): void {
    next.leaveGate();
    zombies.push(life);
    // Should it ever run again: its orders end here.
    life.child.channel.close();
    next.needFresh();
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
      const life = seat.state === 'up' ? seat.life : null;
      unsaid.note(message, life !== null);
      life?.send(message);
      seat.segment.ringWork();
      return life !== null;
    },
    onReply: news.onReply,
    grow(added) {
      if (added.length === 0 || seat.state === 'lost' || seat.state === 'stopped') return;
      blocks.push(...added);
      // A block allocated in a later life was never fenced for it.
      if (seat.epoch > 0) for (const block of added) seat.segment.fence(block, seat.epoch);
      post.tell({ type: 'grow', blocks: added });
    },
    stop() {
      if (seat.stopping) return;
      seat.stopping = true;
      seat.successor?.child.kill('SIGKILL');
      if (seat.state === 'waiting') {
        next.cancel();
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
      if (judged?.cause === 'deadline' && judged.op !== 'idle') counts.deadlinesMissed[judged.op]++;
      void endSeatLife(seat, life).then((outcome) => {
        if (outcome === 'unconfirmed' && seat.life === life) abandon(life);
      });
    },
    condemn(reason) {
      next.needFresh();
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
