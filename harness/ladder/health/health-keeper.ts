// Keeps a run's health: looks at the crew once a second, hears its events, writes errors/top10.ndjson and health.json, and asks for a worker to
// be replaced whose memory grows. Made and driven by the ladder; decides no kill. Memory: some 70 bytes per env and the bounds of its parts.
import { join } from 'node:path';
import type { EnvRange } from '../../contract/env-state.js';
import { HEALTH_REPORT_NAME, type HealthReport, type HealthSummary } from '../../contract/health-report.js';
import type { Death } from '../../contract/run-record.js';
import { errnoOf, writeFileAtomic } from '../../store/atomic-file.js';
import type { Crew, CrewEvent, CrewHealth, WorkerHealth } from '../../supervisor/crew.js';
import { createEnvWatch } from './env-watch.js';
import { createErrorJournal } from './error-journal.js';
import { createErrorMerge } from './error-merge.js';
import { createEventBook } from './event-book.js';
import { createGrowthWatch, type GrowthSeat } from './growth.js';
import { healthRecord, SLOWEST, summaryOf, TOP_ERRORS } from './health-record.js';
import { createLogBudget, logBudgetBytes } from './log-budget.js';
import { createRestartLine } from './restart-line.js';
import { softLimitOf, softRestartReason } from './soft-restart.js';
import { slowestOf, stabilityOf } from './stability.js';
import { createSuspensions } from './suspensions.js';

/** health.json is written this often while the run goes on, so that a killed supervisor leaves one behind. */
const WRITE_EVERY_S = 60;
/** Below this share of its limit a worker's slopes are not worth computing. */
const NEAR_LIMIT = 0.5;

export interface HealthKeeperOptions {
  readonly runId: string;
  /** The run folder. */
  readonly dir: string;
  readonly envs: number;
  readonly ranges: readonly EnvRange[];
  readonly crew: Pick<Crew, 'envStates' | 'envFrames' | 'health' | 'errors' | 'obey'>;
  /** `health.softLimitBytes` of the plan. */
  readonly softLimitBytes: number;
  /** What the plan means to last: the log budget goes by it. */
  readonly plannedSeconds: number;
  /** The run's start and the present, CLOCK_MONOTONIC in milliseconds. */
  readonly beganMs: number;
  readonly nowMs: () => number;
  readonly onNotice: (message: string) => void;
  /** Hard limit of a worker's memory group; null: none. */
  readonly memoryMaxOf?: (worker: number) => number | null;
  /** Control messages refused so far, by why. */
  readonly refused?: () => Readonly<Record<string, number>>;
  readonly writeFile?: (path: string, text: string) => Promise<void>;
  readonly append?: (path: string, text: string) => Promise<void>;
}

export interface HealthKeeper {
  /** Once a second while the crew lives. */
  tick(): void;
  hear(event: CrewEvent): void;
  death(death: Death): void;
  /** A tier's measured time begins: the slowest envs are counted from here on. */
  beginMeasure(): void;
  /** The crew is about to be stopped in order: what stands still from here on is no trouble, the last look stays. */
  beginStop(): void;
  /** The report as it is now. For the live page and the mirror: costs some milliseconds for 7,000 envs, so ask every few seconds. */
  snapshot(): HealthReport;
  /** Share of its planned time each env was live, by env id; NaN before its first frame. */
  scores(): Float32Array;
  /** After the crew has stopped: last error report and health.json. Never rejects. */
  finish(): Promise<HealthSummary>;
}

/** Verdicts under which a worker's control words do not move. */
const STILL: ReadonlySet<string> = new Set(['suspect', 'frozen', 'blocked', 'hung', 'dead', 'starting']);

export function createHealthKeeper(options: HealthKeeperOptions): HealthKeeper {
  const { crew, envs, ranges, dir } = options;
  const budget = createLogBudget(logBudgetBytes(options.plannedSeconds));
  const errors = createErrorMerge(options.beganMs);
  const journal = createErrorJournal({
    path: join(dir, 'errors', 'top10.ndjson'),
    errors,
    budget,
    onProblem: options.onNotice,
    ...(options.append === undefined ? {} : { append: options.append }),
  });
  const writeFile = options.writeFile ?? writeFileAtomic;
  const watch = createEnvWatch(envs);
  const growth = createGrowthWatch();
  const book = createEventBook();
  const restarts = createRestartLine();
  const suspensions = createSuspensions();
  const workerOf = workersByEnv(ranges, envs);
  /** Life of each worker in which it was replaced for its memory: once is enough, also when the command was refused. */
  const replacedLife = new Map<number, number>();
  let health: CrewHealth | null = null;
  let frames = new Float64Array(0);
  let measured = { frames: new Float64Array(0), fromS: 0 };
  let lastTickS = 0;
  let writtenS = 0;
  let soft = 0;
  let writing: Promise<void> = Promise.resolve();
  let refusedWrites = 0;
  let stopping = false;

  const runS = (): number => Math.max(0, (options.nowMs() - options.beganMs) / 1000);

  function lookAtEnvs(now: number, workers: readonly WorkerHealth[]): void {
    const still: boolean[] = [];
    for (const { worker, verdict } of workers) still[worker] = STILL.has(verdict);
    watch.look(now, crew.envStates(), workerOf, still);
    const seen = crew.envFrames();
    if (seen.length > 0) frames = seen.slice();
    if (measured.frames.length === 0) measured = { frames, fromS: now };
  }

  function replaceGrowing({ worker, epoch, report }: WorkerHealth): void {
    if (report === null || replacedLife.get(worker) === epoch) return;
    const limits = { softLimitBytes: options.softLimitBytes, memoryMaxBytes: options.memoryMaxOf?.(worker) ?? null };
    const limit = softLimitOf(limits);
    if (limit === null || report.rssBytes < limit * NEAR_LIMIT) return;
    const memory = growth.memoryOf(worker, epoch);
    const reason = memory === null ? null : softRestartReason({ ...memory, ...limits });
    if (reason === null) return;
    replacedLife.set(worker, epoch);
    options.onNotice(`worker ${worker} is replaced before its memory runs out: ${reason}`);
    void crew.obey({ id: `soft-restart-${worker}-${epoch}`, command: 'replace-worker', worker }).then((answer) => {
      if (answer.ok) soft++;
      else options.onNotice(`worker ${worker} could not be replaced: ${answer.message}`);
    });
  }

  function report(final: boolean): HealthReport {
    const now = runS();
    const top = errors.top(TOP_ERRORS);
    return healthRecord({
      run_id: options.runId,
      run_s: Math.round(now * 1000) / 1000,
      final,
      envs,
      envRanges: ranges,
      envStates: watch.states,
      envFrames: frames,
      health: health ?? {
        rebuilds: new Uint32Array(0),
        failures: new Uint32Array(0),
        deadlinesMissed: { construct: 0, reset: 0, step: 0, close: 0 },
      },
      events: book.record(),
      restarts: { ...restarts.record(), soft },
      suspended: suspensions.record(now),
      gaps: watch.gaps(lastTickS),
      stability: stabilityOf(ranges, watch.liveS, watch.plannedS),
      slowest: slowestOf(ranges, measured.frames, frames, SLOWEST),
      slowest_over_s: Math.max(0, Math.round((lastTickS - measured.fromS) * 10) / 10),
      growth: growth.records(),
      errors: { ...errors.counts(), top },
      refused: { ...options.refused?.() },
      log: {
        budget_bytes: budget.budgetBytes,
        written_bytes: budget.writtenBytes,
        left_out_lines: budget.leftOutLines,
        failed_writes: journal.failedWrites + refusedWrites,
      },
    });
  }

  function write(made: HealthReport): void {
    writing = writing.then(() =>
      writeFile(join(dir, HEALTH_REPORT_NAME), `${JSON.stringify(made)}\n`).catch((error: unknown) => {
        if (refusedWrites++ === 0) options.onNotice(`${HEALTH_REPORT_NAME} could not be written (${errnoOf(error)}); it is tried again`);
      }),
    );
  }

  function tick(): void {
    const now = runS();
    if (stopping) {
      errors.take(crew.errors());
      return;
    }
    health = crew.health();
    lookAtEnvs(now, health.workers);
    lastTickS = now;
    growth.sample(now, seatsOf(health));
    suspensions.look(now, health.suspended);
    errors.take(crew.errors());
    journal.tick(now);
    for (const worker of health.workers) replaceGrowing(worker);
    if (now - writtenS < WRITE_EVERY_S) return;
    writtenS = now;
    write(report(false));
  }

  return {
    tick,
    hear(event) {
      // The learner goes first in an orderly stop; the workers that follow it did not die.
      if (event.type === 'learner-stopped') stopping = true;
      const ids = event.detail?.envIds;
      const envIds =
        event.envId !== undefined ? [event.envId] : Array.isArray(ids) ? ids.filter((id): id is number => Number.isInteger(id)) : [];
      if (event.type === 'env-rebuilt') restarts.add(runS(), 'env rebuilt', Math.max(1, envIds.length));
      if (event.type === 'worker-replaced') restarts.add(runS(), 'worker replaced', 1);
      book.add({
        runS: runS(),
        type: event.type,
        message: event.message,
        envIds,
        ...(event.worker === undefined ? {} : { worker: event.worker }),
      });
    },
    death: ({ role, cause, last_operation: operation }) =>
      restarts.add(runS(), `${role} ${cause}${cause === 'deadline' && operation !== null ? ` (${operation})` : ''}`, 1),
    beginMeasure() {
      const seen = crew.envFrames();
      measured = { frames: seen.length > 0 ? seen.slice() : frames, fromS: runS() };
    },
    beginStop() {
      if (!stopping) tick();
      stopping = true;
    },
    snapshot: () => report(false),
    scores: () => Float32Array.from(watch.plannedS, (planned, env) => (planned > 0 ? (watch.liveS[env] as number) / planned : Number.NaN)),
    async finish() {
      try {
        errors.take(crew.errors());
      } catch {
        // The tables may be gone with the crew; the last second's look stands.
      }
      await journal.close(runS());
      const made = report(true);
      write(made);
      await writing;
      return summaryOf(made, health ?? { rebuilds: new Uint32Array(0) });
    },
  };
}

function seatsOf({ workers, learner }: CrewHealth): GrowthSeat[] {
  return [
    ...workers.map(({ worker, pid, epoch, report }): GrowthSeat => ({ role: 'worker', worker, pid, life: epoch, report })),
    { role: 'learner', worker: null, pid: learner.pid, life: learner.restarts, report: learner.report },
  ];
}

function workersByEnv(ranges: readonly EnvRange[], envs: number): Int32Array {
  const workerOf = new Int32Array(envs).fill(-1);
  for (const { first, count, worker } of ranges) workerOf.fill(worker, first, first + count);
  return workerOf;
}
