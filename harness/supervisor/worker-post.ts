// One worker's seat: the segment it owns and the processes that hold it one after another. Starts a life, hears it, and when the kernel
// has confirmed its death decides what follows: fence and start anew with epoch + 1, or give the range up.
import { EnvladderError } from '../contract/errors.js';
import type { ChildReport, FromWorker, ToWorker } from '../contract/messages.js';
import { OP, type Segment } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';
import { type PlannedSegment, specOf } from './block-plan.js';
import { childError, isIncurable } from './child-error.js';
import type { CrewPorts } from './crew-ports.js';
import { reportDeath, tellDeath, type WorkerDeath } from './death-report.js';
import { type Deferred, deferred } from './deferred.js';
import { reportFailures } from './env-events.js';
import { countEnvs } from './health-counts.js';
import { type Patience, startPatience } from './patience.js';
import { decideAfterDeath, envToBar, RESTARTS_PER_WORKER } from './restart-policy.js';
import { type Child, CONTROL_CHILD_FD, ERRORS_CHILD_FD, type ExitStatus, FIRST_SEGMENT_FD, spawnChild } from './spawn.js';

export type PostState = 'starting' | 'up' | 'lost' | 'stopped';

export interface WorkerPost {
  readonly worker: number;
  readonly planned: PlannedSegment;
  readonly segment: Segment;
  readonly state: PostState;
  readonly pid: number | null;
  readonly restarts: number;
  readonly epoch: number;
  /** Newest word of the process about itself. */
  readonly report: ChildReport | null;
  budgetLeft(nowMs: number): number;
  /** Ids of the blocks it was given so far. */
  readonly blocks: readonly number[];
  /** First life ready; rejects when that life dies first. */
  readonly ready: Promise<void>;
  /** No process holds the seat any more and none will. */
  readonly over: Promise<void>;
  grow(blocks: readonly number[]): void;
  /** Polite end; from here on nothing is restarted. */
  stop(): void;
  /** SIGKILL; `cause` replaces the signal's name in the death report. */
  kill(cause?: string): void;
}

export interface WorkerPostOptions {
  readonly ports: CrewPorts;
  readonly worker: number;
  readonly planned: PlannedSegment;
  readonly segment: Segment;
  /** The range is given up: its blocks will not be written any more. */
  readonly onLost: (post: WorkerPost) => void;
}

export function createWorkerPost({ ports, worker, planned, segment, onLost }: WorkerPostOptions): WorkerPost {
  const { options, control, errors, emit } = ports;
  const { plan } = options;
  const ready: Deferred<void> = deferred();
  const over: Deferred<void> = deferred();
  const blocks: number[] = [];
  const retired = new Set<number>();
  const barred = new Set<number>();
  let child: Child<ToWorker, FromWorker>;
  let state: PostState = 'starting';
  let epoch = 0;
  let report: ChildReport | null = null;
  let stopping = false;
  let killCause: string | null = null;
  let fatal: EnvladderError | null = null;
  /** Blocks given while a life was still starting: it hears `grow` only once it is ready. */
  let unsaid: number[] = [];
  let patience: Patience;

  function hear(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        patience.end();
        state = 'up';
        emit({
          type: epoch === 0 ? 'worker-started' : 'worker-restarted',
          message: `worker ${worker} is ready (pid ${message.pid}, epoch ${epoch})`,
          worker,
          detail: { pid: message.pid, epoch },
        });
        if (unsaid.length > 0) child.channel.send({ type: 'grow', blocks: unsaid });
        unsaid = [];
        ready.resolve();
        return;
      case 'block-built': {
        const spec = specOf(planned, message.block);
        const { built, failed, seconds } = message;
        emit({
          type: 'env-created',
          message: `worker ${worker} built ${built} envs of ${spec.kind} in ${seconds.toFixed(3)} s, ${failed} failed`,
          worker,
          detail: { block: message.block, kind: spec.kind, firstEnvId: spec.firstEnvId, built, failed, seconds, epoch },
        });
        return;
      }
      case 'env-failures':
        for (const failure of message.failures) if (failure.fate === 'quarantine') retired.add(failure.envId);
        for (const envId of message.also.quarantine) retired.add(envId);
        reportFailures(emit, worker, message.failures, message.also);
        return;
      case 'env-rebuilt':
        countEnvs(ports.counts.rebuilds, message.envIds);
        return;
      case 'env-changed':
        return;
      case 'report':
        report = message.report;
        return;
      case 'fatal':
        fatal = childError(message.code, message.message, 'worker-died');
        return;
      case 'stopped':
        emit({ type: 'worker-stopped', message: `worker ${worker} stopped after ${message.frames} frames of its life`, worker });
        return;
    }
  }

  function begin(): void {
    state = 'starting';
    killCause = null;
    fatal = null;
    unsaid = [];
    child = spawnChild<ToWorker, FromWorker>(ports.workerEntry, [control.fd, errors.fd, segment.fd]);
    const mine = child;
    mine.channel.onMessage((message) => {
      if (mine === child) hear(message);
    });
    patience = startPatience(plan.startDeadlineSeconds * 1000, () => post.kill('deadline'));
    mine.channel.send({
      type: 'start',
      role: 'worker',
      runId: options.runId,
      parentPid: process.pid,
      workers: ports.workers,
      controlFd: CONTROL_CHILD_FD,
      errorsFd: ERRORS_CHILD_FD,
      seed: plan.seed,
      autoreset: plan.autoreset,
      entries: options.entries,
      worker,
      epoch,
      segment: planned.spec as unknown as Record<string, unknown>,
      segmentFd: FIRST_SEGMENT_FD,
      check: plan.check,
      constructParallel: plan.constructParallel,
      module: options.module,
      blockEntries: planned.entryOf,
      blocks: [...blocks],
      barred: [...barred],
      retired: [...retired],
      health: plan.health,
      failed: [],
    });
    void mine.exit.then(end);
  }

  /** The kernel has confirmed that this life is over. */
  function end(status: ExitStatus): void {
    patience.end();
    const wasStarting = state === 'starting';
    if (stopping && (status.code === 0 || killCause !== null)) {
      if (killCause !== null) tellDeath(ports, deathOf(status, 'it did not stop in time and was killed', false));
      state = 'stopped';
      over.resolve();
      return;
    }
    const progress = control.progress(worker);
    const cause = killCause ?? status.cause;
    const hopeless = (fatal !== null && isIncurable(fatal.code)) || (wasStarting && epoch === 0);
    const restart = !stopping && !hopeless && decideAfterDeath(epoch) === 'restart';
    reportDeath(ports, deathOf(status, cause, restart));
    if (restart) {
      const envId = envToBar(progress);
      if (envId !== null) barred.add(envId);
      epoch++;
      clearLine();
      for (const block of blocks) segment.fence(block, epoch);
      begin();
      return;
    }
    state = stopping ? 'stopped' : 'lost';
    over.resolve();
    if (stopping) return;
    const error =
      fatal ??
      new EnvladderError(
        'worker-died',
        `worker ${worker} died (${cause})${wasStarting ? ' before it was ready' : ''}: ${status.outputTail.trim().slice(-500)}`,
      );
    if (hopeless) ports.fail(error);
    ready.reject(error);
    onLost(post);
  }

  function deathOf(status: ExitStatus, cause: string, restarted: boolean): WorkerDeath {
    return { worker, pid: child.pid, epoch, cause, progress: control.progress(worker), outputTail: status.outputTail, restarted };
  }

  /** Forgets what the dead life was doing: the next one must not be blamed for it. */
  function clearLine(): void {
    const words = control.progressWords(worker);
    words[PROGRESS_WORD.envId] = -1;
    words[PROGRESS_WORD.op] = OP.idle;
  }

  const post: WorkerPost = {
    worker,
    planned,
    segment,
    get state() {
      return state;
    },
    get pid() {
      return child.alive ? child.pid : null;
    },
    get restarts() {
      return epoch;
    },
    get epoch() {
      return epoch;
    },
    get report() {
      return report;
    },
    budgetLeft: () => Math.max(0, RESTARTS_PER_WORKER - epoch),
    blocks,
    ready: ready.promise,
    over: over.promise,
    grow(added) {
      if (added.length === 0 || state === 'lost' || state === 'stopped') return;
      blocks.push(...added);
      // A block allocated in a later life was never fenced for it.
      if (epoch > 0) for (const block of added) segment.fence(block, epoch);
      if (state === 'up') {
        child.channel.send({ type: 'grow', blocks: added });
        segment.ringWork();
      } else unsaid.push(...added);
    },
    stop() {
      if (stopping) return;
      stopping = true;
      child.channel.send({ type: 'stop' });
      segment.ringWork();
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
