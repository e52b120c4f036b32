// One worker's life after its start message: take blocks up, step them until told to stop, close them, say goodbye. Everything it needs
// from outside (memory, channel) is an argument, so that a process, a thread and a test run the same life.
import type { Channel } from '../bus/channel.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromWorker, ToWorker, WorkerStart } from '../contract/messages.js';
import { createRegistry } from '../envs/registry.js';
import { createSeedStream } from '../envs/seed-stream.js';
import { OP } from '../memory/control.js';
import type { Memory, SegmentSpec } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';
import { recordCrashes } from './crash-record.js';
import { budgetOf } from './env-budget.js';
import { createEnvRecovery } from './env-recovery.js';
import { createEnvTable } from './env-table.js';
import { describeThrown, errorEntry } from './error-entry.js';
import { createFailureReport } from './failure-report.js';
import { createProgressClock, STAMP } from './progress-clock.js';
import { createSelfReport } from './self-report.js';
import { runStepLoop } from './step-loop.js';

/** Closing envs is a courtesy to their resources; the supervisor's drain deadline stands behind it. */
const CLOSE_LIMIT_MS = 2000;
/** The supervisor samples every 20 ms and judges by seconds. */
const BEAT_MS = 50;
/** Back-offs draw from a stream no env and no worker's envs can have: env ids end far below. */
const CHANCE_ENV_ID = 2 ** 32 - 1;

/** A heartbeat of the application's own making (account mode); the progress line beats without it. */
export interface Heart {
  start(worker: number, epoch: number): void;
  stop(): Promise<void> | void;
}

export interface WorkerPorts {
  readonly memory: Memory;
  readonly channel: Channel<FromWorker, ToWorker>;
  readonly heart?: Heart;
  /** Aborted: as the message `stop` (a process got SIGTERM). */
  readonly ending?: AbortSignal;
}

function limited(work: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, limitMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}

/** Runs one worker from its start message to its stop. Rejects with what makes it useless: bad module, fenced, wrong segment. */
export async function runWorker(start: WorkerStart, { memory, channel, heart, ending }: WorkerPorts): Promise<void> {
  const { worker } = start;
  let stopped = false;
  const early: ToWorker[] = [{ type: 'grow', blocks: start.blocks }];
  let obey = (message: ToWorker): void => void early.push(message);
  // Heard from the first moment: commands may come while modules are still loading.
  channel.onMessage((message) => {
    if (message.type === 'stop') stopped = true;
    else obey(message);
  });
  const asked = (): boolean => stopped || ending?.aborted === true;
  const ends: (() => unknown)[] = [];
  try {
    await live();
  } finally {
    for (const end of ends.reverse()) await end();
  }

  async function live(): Promise<void> {
    const control = memory.attachControl(start.workers + 1, start.controlFd);
    ends.push(control.close);
    memory.bindControl(control);
    const clock = createProgressClock(control.stampWords(worker));
    const progress = control.progressWords(worker);
    progress[PROGRESS_WORD.envId] = -1;
    progress[PROGRESS_WORD.op] = OP.idle;
    progress[PROGRESS_WORD.framesLow] = 0;
    progress[PROGRESS_WORD.framesHigh] = 0;
    progress[PROGRESS_WORD.epoch] = start.epoch;
    progress[PROGRESS_WORD.pid] = process.pid;
    clock.stamp(STAMP.loop);
    ends.push(control.beat(worker, BEAT_MS));
    // The step loop stamps its turns itself; this one is for the time before and after it.
    const loopTimer = setInterval(() => clock.stamp(STAMP.loop), BEAT_MS);
    loopTimer.unref();
    ends.push(() => clearInterval(loopTimer));
    const errors = memory.attachErrors(start.workers + 1, start.errorsFd);
    ends.push(errors.close);
    const segment = memory.attachSegment(start.segment as unknown as SegmentSpec, start.segmentFd);
    ends.push(segment.close);
    const registry = await createRegistry(start.module === null ? [] : [start.module]);
    const report = createFailureReport(channel.send);
    const chance = createSeedStream(start.seed, CHANCE_ENV_ID, worker, start.epoch);
    const tellFailure = (error: EnvladderError, envId: number, entry: string, fate: Parameters<typeof report.failed>[3]): void => {
      errors.add(worker, errorEntry(error, envId, entry));
      report.failed(error, envId, entry, fate);
    };
    const recovery = createEnvRecovery({
      budget: budgetOf(start.health),
      parallel: start.constructParallel,
      chance: () => chance.uniform(),
      clockOffsetMs: clock.offsetMs,
      failedMs: start.failed,
      onFailure: tellFailure,
      onCloseError: (error, envId, entry) => errors.add(worker, errorEntry(error, envId, entry)),
      onRebuilt: report.rebuilt,
    });
    const table = createEnvTable({
      start,
      segment,
      registry,
      recovery,
      progress,
      clock,
      onFailure: tellFailure,
      onRangeThrow: (cause, envId, entry) => errors.add(worker, { envId, entry, operation: 'step', ...describeThrown(cause) }),
    });
    ends.push(recordCrashes(errors, worker, () => control.progress(worker), table.entryOf));
    const self = createSelfReport(
      (told) => channel.send({ type: 'report', report: told }),
      () => control.progress(worker).frames,
      performance.now(),
    );
    let broken: unknown;

    function grow(blocks: readonly number[]): void {
      for (const block of blocks) {
        table.add(block).then(
          (built) => {
            report.flush();
            channel.send({ type: 'block-built', ...built });
          },
          (error: unknown) => {
            broken = error;
            stopped = true;
          },
        );
      }
    }

    obey = (message) => {
      if (message.type === 'grow') {
        if (message.out !== undefined) table.inherit(message.out);
        grow(message.blocks);
      } else if (message.type === 'quarantine' || message.type === 'release') {
        const now = recovery[message.type](message.envId);
        channel.send({ type: 'env-changed', envId: message.envId, now });
      }
    };
    channel.send({ type: 'ready', pid: process.pid });
    if (heart !== undefined) {
      heart.start(worker, start.epoch);
      ends.push(heart.stop);
    }
    for (const message of early) obey(message);
    const frames = await runStepLoop({
      table,
      segment,
      progress,
      check: start.check,
      stopped: asked,
      busy: () => table.building > 0 || recovery.working,
      onTurn(nowMs, gapMs) {
        clock.stamp(STAMP.loop, nowMs);
        recovery.tend(nowMs);
        report.flush(nowMs);
        self.turned(nowMs, gapMs);
      },
    });
    if (broken !== undefined)
      throw broken instanceof EnvladderError ? broken : new Error('a block could not be taken up', { cause: broken });
    await limited(table.close(), CLOSE_LIMIT_MS);
    report.flush();
    channel.send({ type: 'stopped', frames });
  }
}
