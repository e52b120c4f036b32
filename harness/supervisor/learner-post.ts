// The learner's seat: starts it, hears it, asks it for snapshots. It is not restarted: its death, confirmed by the kernel, ends the run.
import { EnvladderError } from '../contract/errors.js';
import type { ChildReport, EnvStats, FromLearner, ToLearner } from '../contract/messages.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import type { Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import { childError } from './child-error.js';
import type { CrewPorts } from './crew-ports.js';
import { type Deferred, deferred } from './deferred.js';
import { startPatience } from './patience.js';
import { type Child, CONTROL_CHILD_FD, ERRORS_CHILD_FD, type ExitStatus, FIRST_SEGMENT_FD, spawnChild } from './spawn.js';

/** The learner speaks once a second unless an update blocks it; no update of a sane plan takes this long. */
const LONGEST_SILENCE_MS = 120_000;

export type LearnerReady = Extract<FromLearner, { type: 'ready' }>;

export interface LearnerPost {
  readonly pid: number | null;
  readonly ready: Promise<LearnerReady>;
  readonly over: Promise<void>;
  /** Its last word after `stop`, or null. */
  readonly last: LearnerSnapshot | null;
  readonly restarts: number;
  readonly report: ChildReport | null;
  readonly envStats: EnvStats | null;
  /** Blocks it reads, as [worker, block]: a restarted learner adopts these. Those of groups that still sleep are not among them. */
  readonly blocks: readonly (readonly [number, number])[];
  grow(tier: number, blocks: readonly (readonly [number, number])[]): Promise<number>;
  /** Takes a lost worker's blocks away, those that it reads. */
  drop(worker: number): void;
  send(message: ToLearner): void;
  snapshot(): Promise<LearnerSnapshot>;
  stop(deadlineMs: number): void;
  kill(cause?: string): void;
}

export interface LearnerPostOptions {
  readonly ports: CrewPorts;
  readonly segments: readonly { readonly planned: PlannedSegment; readonly segment: Segment }[];
}

export function createLearnerPost({ ports, segments }: LearnerPostOptions): LearnerPost {
  const { options, control, errors, emit } = ports;
  const { plan } = options;
  const ready: Deferred<LearnerReady> = deferred();
  const over: Deferred<void> = deferred();
  const asked = new Map<number, Deferred<LearnerSnapshot>>();
  const firstBatches = new Map<number, Deferred<number>>();
  let told: (readonly [number, number])[] = [];
  let nextId = 1;
  let last: LearnerSnapshot | null = null;
  let stopping = false;
  let report: ChildReport | null = null;
  let envStats: EnvStats | null = null;
  let killCause: string | null = null;
  let fatal: EnvladderError | null = null;

  const child: Child<ToLearner, FromLearner> = spawnChild(ports.learnerEntry, [
    control.fd,
    errors.fd,
    ...segments.map(({ segment }) => segment.fd),
  ]);
  const patience = startPatience(plan.startDeadlineSeconds * 1000, () => post.kill('deadline'));

  function hear(message: FromLearner): void {
    patience.renew(LONGEST_SILENCE_MS);
    switch (message.type) {
      case 'ready':
        emit({
          type: 'learner-started',
          message: `learner is ready (pid ${message.pid}, ${message.backend} ${message.backendVersion})`,
          detail: { pid: message.pid, backend: message.backend, resumedFrom: message.resumedFrom },
        });
        ready.resolve(message);
        return;
      case 'first-batch':
        firstBatches.get(message.tier)?.resolve(message.monotonicMs);
        return;
      case 'snapshot':
        asked.get(message.id)?.resolve(message.snapshot);
        asked.delete(message.id);
        return;
      case 'stats':
        report = message.report;
        options.onStats(message.snapshot);
        return;
      case 'env-stats':
        envStats = message.stats;
        return;
      case 'segment-replaced':
        return;
      case 'checkpoint': {
        const { path, bytes, seconds, reason } = message;
        emit({ type: 'checkpoint', message: `checkpoint ${path} (${bytes} bytes, ${reason})`, detail: { path, bytes, seconds, reason } });
        return;
      }
      case 'warning':
        emit({ type: 'warning', message: message.message });
        return;
      case 'fatal':
        fatal = childError(message.code, message.message, 'learner-died');
        return;
      case 'stopped':
        last = message.snapshot;
        emit({ type: 'learner-stopped', message: 'learner settled and stopped' });
        return;
    }
  }

  function end(status: ExitStatus): void {
    patience.end();
    const late = stopping && killCause !== null;
    const cause = late ? 'it did not stop in time and was killed' : (killCause ?? status.cause);
    const error =
      fatal ??
      new EnvladderError('learner-died', `the learner died (${cause}): ${status.outputTail.trim().slice(-500)}`, { detail: { cause } });
    // Its last word was its last work: what is killed after it costs the run nothing and is an event alone. One that was still starting
    // when the start failed had no work: nothing is said of it.
    const settled = stopping && last !== null;
    const unborn = late && !ready.settled;
    if (!settled && !unborn) {
      ports.die({
        role: 'learner',
        worker: null,
        pid: child.pid,
        cause,
        last_env_id: null,
        last_operation: null,
        stderr_tail: status.outputTail,
        restarted: false,
      });
    }
    if (late ? !unborn : !settled) emit({ type: 'learner-died', message: error.message, detail: { cause, stderrTail: status.outputTail } });
    ready.reject(error);
    for (const wait of [...asked.values(), ...firstBatches.values()]) wait.reject(error);
    over.resolve();
    if (!stopping) ports.fail(error);
  }

  const post: LearnerPost = {
    get pid() {
      return child.alive ? child.pid : null;
    },
    ready: ready.promise,
    over: over.promise,
    get last() {
      return last;
    },
    restarts: 0,
    get report() {
      return report;
    },
    get envStats() {
      return envStats;
    },
    grow(tier, blocks) {
      const first = deferred<number>();
      firstBatches.set(tier, first);
      told.push(...blocks);
      child.channel.send({ type: 'grow', tier, blocks });
      return first.promise;
    },
    get blocks() {
      return told;
    },
    drop(worker) {
      const blocks = told.filter(([seat]) => seat === worker);
      told = told.filter(([seat]) => seat !== worker);
      if (blocks.length > 0) child.channel.send({ type: 'drop', blocks });
    },
    send: child.channel.send,
    snapshot() {
      const answer = deferred<LearnerSnapshot>();
      if (child.alive) {
        asked.set(nextId, answer);
        child.channel.send({ type: 'snapshot', id: nextId++ });
      } else answer.reject(fatal ?? new EnvladderError('learner-died', 'the learner is gone and cannot be asked for a snapshot'));
      return answer.promise;
    },
    stop(deadlineMs) {
      if (stopping) return;
      stopping = true;
      patience.end();
      child.channel.send({ type: 'stop', deadlineMs });
    },
    kill(cause) {
      if (!child.alive) return;
      killCause = cause ?? killCause;
      child.kill('SIGKILL');
    },
  };
  child.channel.onMessage(hear);
  child.channel.send({
    type: 'start',
    role: 'learner',
    runId: options.runId,
    parentPid: process.pid,
    workers: ports.workers,
    controlFd: CONTROL_CHILD_FD,
    errorsFd: ERRORS_CHILD_FD,
    seed: plan.seed,
    autoreset: plan.autoreset,
    entries: options.entries,
    mode: plan.learner,
    backend: plan.backend,
    segments: segments.map(({ planned }, index) => ({
      spec: planned.spec as unknown as Record<string, unknown>,
      fd: FIRST_SEGMENT_FD + index,
      blockEntries: planned.entryOf,
    })),
    ppo: plan.ppo,
    checkpointDir: options.checkpointDir,
    resume: options.resume,
    life: 0,
    base: null,
    adopt: [],
  });
  void child.exit.then(end);
  return post;
}
