// The learner's seat: starts it, hears it, asks it, and starts it again when it dies: from its newest checkpoint, counting on from its last
// snapshot, with every live block. Workers simply wait meanwhile. Past its budget, or when no restart can cure it, the run fails.
import { EnvladderError } from '../contract/errors.js';
import type { ChildReport, EnvStats, FromLearner, LearnerBase, ToLearner } from '../contract/messages.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import { checkpointToResume } from './checkpoint-to-resume.js';
import { childError, isIncurable } from './child-error.js';
import { monotonicMs } from './clock.js';
import type { CrewPorts, LearnerChild } from './crew-ports.js';
import { NOT_IN_TIME } from './death-report.js';
import { type Deferred, deferred } from './deferred.js';
import { createLearnerAsks } from './learner-asks.js';
import { tellLearnerNews } from './learner-news.js';
import { learnerStart } from './learner-start.js';
import { type Patience, startPatience } from './patience.js';
import { clearLine } from './progress-reset.js';
import { backoffMs, createRestartBudget } from './restart-budget.js';
import type { ExitStatus } from './spawn.js';

type BlockPair = readonly [worker: number, block: number];

export type LearnerReady = Extract<FromLearner, { type: 'ready' }>;

export interface LearnerPost {
  readonly pid: number | null;
  /** A process is there and has said that it is ready. */
  readonly up: boolean;
  /** The first life is ready; rejects when it dies before. */
  readonly ready: Promise<LearnerReady>;
  readonly over: Promise<void>;
  /** Its last word after `stop`, or null. */
  readonly last: LearnerSnapshot | null;
  readonly life: number;
  readonly restarts: number;
  readonly report: ChildReport | null;
  readonly envStats: EnvStats | null;
  grow(tier: number, blocks: readonly (readonly [number, number])[]): Promise<number>;
  /** The worker will not come back: its blocks are not read any more. */
  drop(worker: number): void;
  send(message: ToLearner): void;
  snapshot(): Promise<LearnerSnapshot>;
  /** Resolves with the path of the next checkpoint. */
  checkpoint(reason: string): Promise<string>;
  /** The seat's memory is the one at `path` now. Resolves when the old one is not read any more. */
  replaceSegment(worker: number, path: string): Promise<void>;
  stop(deadlineMs: number): void;
  kill(cause?: string): void;
}

export interface LearnerPostOptions {
  readonly ports: CrewPorts;
  readonly planned: readonly PlannedSegment[];
  /** The segments in use now, by seat. */
  readonly segments: () => readonly Segment[];
}

export function createLearnerPost({ ports, planned, segments }: LearnerPostOptions): LearnerPost {
  const { options, control, emit } = ports;
  const { plan } = options;
  const line = ports.workers;
  const ready: Deferred<LearnerReady> = deferred();
  const over: Deferred<void> = deferred();
  const budget = createRestartBudget(plan.health.learnerBudget);
  /** Blocks it was told to read, and those given up since. */
  let read: BlockPair[] = [];
  const lost: BlockPair[] = [];
  let child: LearnerChild;
  let patience: Patience;
  let life = 0;
  let up = false;
  let base: LearnerBase | null = null;
  /** Newest snapshot of this life. */
  let newest: LearnerSnapshot | null = null;
  let last: LearnerSnapshot | null = null;
  let report: ChildReport | null = null;
  let envStats: EnvStats | null = null;
  let stopDeadlineMs: number | null = null;
  let killCause: string | null = null;
  let fatal: EnvladderError | null = null;
  let diedMs = 0;
  let backoff: NodeJS.Timeout | undefined;
  /** Said while there was no process to hear it: the next life hears it. */
  const unheard: ToLearner[] = [];
  /** The last life is over and the next has not begun. */
  let between = false;
  const asks = createLearnerAsks((message) => child.channel.send(message));

  function hear(message: FromLearner): void {
    asks.hear(message);
    tellLearnerNews(emit, message, life, diedMs);
    switch (message.type) {
      case 'ready':
        // From here on its line on the control page decides (crew-watch.ts), not what it says.
        patience.end();
        up = true;
        if (life > 0) asks.again(base?.batches ?? 0);
        ready.resolve(message);
        return;
      case 'stats':
        newest = message.snapshot;
        report = message.report;
        options.onStats(message.snapshot);
        return;
      case 'snapshot':
        newest = message.snapshot;
        return;
      case 'env-stats':
        envStats = message.stats;
        return;
      case 'fatal':
        fatal = childError(message.code, message.message, 'learner-died');
        return;
      case 'stopped':
        last = message.snapshot;
        return;
      default:
    }
  }

  function begin(): void {
    between = false;
    killCause = null;
    fatal = null;
    newest = null;
    child = ports.launchLearner(segments());
    patience = startPatience(plan.startDeadlineSeconds * 1000, () => post.kill('deadline'));
    const mine = child;
    mine.channel.onMessage((message) => {
      if (mine === child) hear(message);
    });
    const resume = life === 0 ? options.resume : checkpointToResume(options.checkpointDir, options.resume);
    mine.channel.send(learnerStart(ports, { life, base, resume, planned, adopt: read, lost }));
    for (const message of unheard.splice(0)) mine.channel.send(message);
    void mine.exit.then(end);
    if (stopDeadlineMs === null) return;
    patience.end();
    mine.channel.send({ type: 'stop', deadlineMs: stopDeadlineMs });
  }

  function end(status: ExitStatus): void {
    patience.end();
    const nowMs = monotonicMs();
    const stopping = stopDeadlineMs !== null;
    const late = stopping && killCause !== null;
    const cause = late ? NOT_IN_TIME : (killCause ?? status.cause);
    const error =
      fatal ??
      new EnvladderError('learner-died', `the learner died (${cause}): ${status.outputTail.trim().slice(-500)}`, { detail: { cause } });
    const born = ready.settled;
    const restarted = !stopping && born && !(fatal !== null && isIncurable(fatal.code)) && budget.take(nowMs);
    // What is killed after its last word costs the run nothing and is an event alone. Nothing is said of one that had not begun to work.
    const settled = stopping && last !== null;
    const unborn = late && !born;
    if (!settled && !unborn) {
      const nothing = { worker: null, last_env_id: null, last_operation: null };
      ports.die({ role: 'learner', ...nothing, pid: child.pid, cause, stderr_tail: status.outputTail, restarted });
    }
    if (late ? !unborn : !settled) {
      const detect = Math.round(Math.max(0, nowMs - (control.progress(line).nativeMs || nowMs)));
      emit({
        type: 'learner-died',
        message: restarted ? `the learner (pid ${child.pid}) died: ${cause}; it is started again while the workers wait` : error.message,
        detail: { cause, pid: child.pid, life, restarted, detect_ms: detect, stderrTail: status.outputTail },
      });
    }
    up = false;
    if (restarted) {
      diedMs = nowMs;
      // What it counted last; a life that said nothing leaves what it was given.
      base = newest === null ? base : { ...newest, envStats };
      life++;
      between = true;
      clearLine(control, line);
      backoff = setTimeout(begin, backoffMs(budget.used(nowMs), plan.health.backoff, ports.random()));
      return;
    }
    ready.reject(error);
    asks.end(error);
    over.resolve();
    if (!stopping) ports.fail(error);
  }

  const post: LearnerPost = {
    get pid() {
      return child.alive ? child.pid : null;
    },
    get up() {
      return up && child.alive;
    },
    ready: ready.promise,
    over: over.promise,
    get last() {
      return last;
    },
    get life() {
      return life;
    },
    get restarts() {
      return life;
    },
    get report() {
      return report;
    },
    get envStats() {
      return envStats;
    },
    grow(tier, added) {
      const first = asks.firstBatch(tier);
      read.push(...added);
      child.channel.send({ type: 'grow', tier, blocks: added });
      return first;
    },
    drop(worker) {
      const gone = read.filter(([of]) => of === worker);
      if (gone.length === 0) return;
      read = read.filter(([of]) => of !== worker);
      lost.push(...gone);
      child.channel.send({ type: 'drop', blocks: gone });
    },
    send: (message) => void (child.alive ? child.channel.send(message) : unheard.push(message)),
    snapshot: asks.snapshot,
    checkpoint: asks.checkpoint,
    replaceSegment: asks.replaced,
    stop(deadlineMs) {
      if (stopDeadlineMs !== null) return;
      stopDeadlineMs = deadlineMs;
      patience.end();
      if (!between) child.channel.send({ type: 'stop', deadlineMs });
      else {
        // Between two lives: the books need one more to settle them.
        clearTimeout(backoff);
        begin();
      }
    },
    kill(cause) {
      if (!child.alive) return;
      killCause = cause ?? killCause;
      child.kill('SIGKILL');
    },
  };
  begin();
  return post;
}
