// The long run: an `envladder ladder` in a process of its own, with faults injected from outside every so often, watched through its run
// folder and /proc. Its state lies in the soak's folder, so that a soak that was cut off goes on where it stopped. Bounded by its plan.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { readMachineFacts } from '../../bench/machine-facts.js';
import { EnvladderError } from '../../contract/errors.js';
import type { Interrupts } from '../../ladder/interrupts.js';
import { makeFolder } from '../../ladder/make-folder.js';
import { readPlan } from '../../ladder/read-plan.js';
import type { RowContext } from '../chaos-row.js';
import { type ChildLadder, endLadders, startLadder } from '../child-ladder.js';
import { type EventTail, tailEvents } from '../event-tail.js';
import type { StoredEvent } from '../invariants/kept-events.js';
import { isRunning } from '../leftovers.js';
import { seededRandom } from '../seeded-random.js';
import { watchFor } from '../until.js';
import { growthOf, keepSample, type ProcessSample, sampleProcess } from './process-samples.js';
import { type OwnRedis, ownRedis } from './redis-server.js';
import { chooseStrike, type Death, falseKills, PAUSE_MS, REDIS_OUTAGE_MS, type SoakStrike } from './soak-faults.js';
import { type RawPlan, restOf, soakPlan } from './soak-plan.js';
import { renderSoak, type SoakReport, writeSoakReport } from './soak-report.js';

export interface SoakOptions {
  readonly plan?: string | undefined;
  readonly hours?: number | undefined;
  /** Folder of the soak: new, or with `resume` one that was cut off. */
  readonly out: string;
  readonly resume: boolean;
  /** Seconds between two faults; 0: none. */
  readonly everySeconds: number;
  readonly seed: number;
  readonly interrupts: Interrupts;
  readonly say: (line: string) => void;
}

const SAMPLE_EVERY_MS = 10_000;
const LOOK_EVERY_MS = 500;
/** Deaths and strikes that a report keeps. */
const MOST_KEPT = 10_000;

/** What survives the soak's own end, in soak-state.json. */
interface SoakState {
  readonly plan: RawPlan;
  readonly label: string;
  readonly seed: number;
  readonly startedAt: string;
  readonly runs: string[];
  doneSeconds: number;
  hours: number;
  readonly strikes: SoakStrike[];
  readonly deaths: Death[];
  restarts: number;
  suspensions: number;
  readonly exitCodes: (number | null)[];
  readonly verdicts: string[];
}

const STATE_NAME = 'soak-state.json';

function loadState(dir: string): SoakState {
  try {
    return JSON.parse(readFileSync(join(dir, STATE_NAME), 'utf8')) as SoakState;
  } catch (cause) {
    throw new EnvladderError(
      'bad-usage',
      `--resume: ${dir} holds no soak (${(cause as NodeJS.ErrnoException).code ?? `${STATE_NAME} cannot be read`}); give the folder of one that was cut off`,
      { cause },
    );
  }
}

function newState(options: SoakOptions, dir: string, redis: OwnRedis | null): SoakState {
  if (existsSync(join(dir, STATE_NAME)))
    throw new EnvladderError('run-folder', `${dir} holds a soak: go on with it by --resume, or choose another --out`);
  const plan = soakPlan({ ...options, cwd: process.cwd() }, redis?.url ?? null);
  return {
    plan,
    label: options.plan ?? `${options.hours ?? 1} h`,
    seed: options.seed,
    startedAt: new Date().toISOString(),
    runs: [],
    doneSeconds: 0,
    hours: 0,
    strikes: [],
    deaths: [],
    restarts: 0,
    suspensions: 0,
    exitCodes: [],
    verdicts: [],
  };
}

/** Signals a process that may just have gone. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone: nothing to strike.
  }
}

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const dir = resolve(options.out);
  const redis = ownRedis(dir);
  // Refused in its own words here, or else by the ladder, whose words nobody would see.
  if (options.plan !== undefined) await readPlan({ plan: options.plan, flags: {}, cores: availableParallelism(), cwd: process.cwd() });
  const state = options.resume ? loadState(dir) : newState(options, dir, redis);
  const rest = restOf(state.plan, state.doneSeconds);
  if (rest === null) throw new EnvladderError('bad-usage', `${dir}: this soak is finished; see ${join(dir, 'soak.md')}`);
  makeFolder(dir);
  await redis?.start();
  try {
    return await soakPart(options, dir, state, rest, redis);
  } finally {
    await endLadders();
    await redis?.kill();
  }
}

async function soakPart(options: SoakOptions, dir: string, state: SoakState, rest: RawPlan, redis: OwnRedis | null): Promise<SoakReport> {
  const { interrupts, say } = options;
  const context: RowContext = { seed: state.seed, dir, patience: 1, windowSeconds: 1, say };
  const earlier = state.runs.at(-1);
  const resumable = earlier !== undefined && existsSync(join(earlier, 'checkpoints'));
  const runDir = join(dir, `run-${state.runs.length + 1}`);
  const ladder = startLadder(context, { plan: rest, dir: runDir, exactPlan: true, args: resumable ? ['--resume', earlier] : [] });
  state.runs.push(runDir);
  say(`run ${runDir}${resumable ? `, resumed from ${earlier}` : ''}${redis === null ? '; no redis-server on PATH, no Redis outages' : ''}`);
  const watch = watchLadder(ladder, tailEvents(runDir), state);
  const beganMs = performance.now();
  const beforeHours = state.hours;
  const beforeDone = state.doneSeconds;
  const atS = (): number => (performance.now() - beganMs) / 1000;
  const random = seededRandom(state.seed, 4 + state.runs.length);
  let nextFaultMs = performance.now() + options.everySeconds * 1000;
  let nextSampleMs = 0;
  const report = (): SoakReport => reportOf(dir, state, watch, redis);
  let tiers = 0;
  while (ladder.ended === null) {
    await watchFor(LOOK_EVERY_MS);
    watch.look(atS());
    state.hours = beforeHours + atS() / 3600;
    state.doneSeconds = beforeDone + watch.measuredS();
    if (performance.now() >= nextSampleMs) {
      nextSampleMs = performance.now() + SAMPLE_EVERY_MS;
      watch.sample(atS());
      writeFileSync(join(dir, STATE_NAME), JSON.stringify(state));
    }
    if (watch.tiersEnded() > tiers) {
      tiers = watch.tiersEnded();
      say(`tier ${tiers} ended`);
      for (const line of renderSoak(report())) say(`  ${line}`);
      writeSoakReport(dir, report());
    }
    if (interrupts.count() > 0) ladder.kill('SIGTERM');
    else if (options.everySeconds > 0 && watch.measuring() && performance.now() >= nextFaultMs) {
      nextFaultMs = performance.now() + options.everySeconds * 1000;
      await strike(state, watch, redis, random, atS(), say);
    }
  }
  const { code } = await ladder.exit;
  watch.look(atS());
  state.exitCodes.push(code);
  state.verdicts.push(verdictOf(ladder));
  writeFileSync(join(dir, STATE_NAME), JSON.stringify(state));
  const last = report();
  writeSoakReport(dir, last);
  return last;
}

/** A ladder calls any death a reason to be invalid; here those are judged one by one, as false kills or not. */
function verdictOf(ladder: ChildLadder): string {
  const record = ladder.record();
  if (record === null) return 'no record';
  const others = record.validity.reasons.filter(({ code }) => code !== 'worker-died' && code !== 'interrupted');
  return others.length === 0 ? 'valid' : others.map(({ message }) => message).join('; ');
}

async function strike(
  state: SoakState,
  watch: LadderWatch,
  redis: OwnRedis | null,
  random: () => number,
  atS: number,
  say: (line: string) => void,
): Promise<void> {
  const chosen = chooseStrike(watch.seats(), redis !== null, random, atS);
  if (chosen === null) return;
  state.strikes.push(chosen);
  if (state.strikes.length > MOST_KEPT) state.strikes.shift();
  say(`${Math.round(atS)} s: ${chosen.fault}${chosen.worker === null ? '' : ` of worker ${chosen.worker}`}`);
  switch (chosen.fault) {
    case 'kill':
      for (const pid of chosen.pids) signal(pid, 'SIGKILL');
      return;
    case 'pause-one':
    case 'pause-all':
      for (const pid of chosen.pids) signal(pid, 'SIGSTOP');
      await watchFor(PAUSE_MS);
      for (const pid of chosen.pids) signal(pid, 'SIGCONT');
      return;
    case 'redis-outage':
      await redis?.kill();
      await watchFor(REDIS_OUTAGE_MS);
      await redis?.start();
      return;
  }
}

interface LadderWatch {
  look(atS: number): void;
  sample(atS: number): void;
  /** Live worker processes by seat. */
  seats(): ReadonlyMap<number, number>;
  measuring(): boolean;
  /** Measured seconds so far, over the tiers of this part. */
  measuredS(): number;
  tiersEnded(): number;
  growth(): SoakReport['growth'];
}

function watchLadder(ladder: ChildLadder, tail: EventTail, state: SoakState): LadderWatch {
  const seats = new Map<number, number>();
  const followed = new Map<string, { pid: number; samples: ProcessSample[] }>([['supervisor', { pid: ladder.pid, samples: [] }]]);
  let liveMs: number | null = null;
  let doneMs = 0;
  let lastMs = 0;
  let ended = 0;

  function hear({ type, worker, run_ms, detail, message }: StoredEvent): void {
    const told = JSON.parse(detail ?? '{}') as { pid?: number; cause?: string };
    lastMs = Math.max(lastMs, run_ms);
    if (/^(worker|learner)-(started|restarted|replaced)$/.test(type) && told.pid !== undefined) {
      if (worker !== null) seats.set(worker, told.pid);
      followed.set(worker === null ? 'learner' : `worker ${worker}`, { pid: told.pid, samples: [] });
    }
    if (type === 'worker-restarted') state.restarts++;
    if (type === 'kills-suspended') state.suspensions++;
    if (type === 'worker-died' || type === 'learner-died') {
      state.deaths.push({ worker, pid: told.pid ?? null, cause: told.cause ?? '', message });
      if (state.deaths.length > MOST_KEPT) state.deaths.shift();
      if (worker !== null) seats.delete(worker);
    }
    if (type === 'tier-live') liveMs = run_ms;
    if (type === 'tier-ended' && liveMs !== null) {
      doneMs += run_ms - liveMs;
      liveMs = null;
      ended++;
    }
  }

  return {
    look() {
      for (const event of tail.next()) hear(event);
    },
    sample(atS) {
      // Before its first tier is live a run still opens and allocates.
      if (liveMs === null && ended === 0) return;
      for (const { pid, samples } of followed.values()) {
        const one = sampleProcess(pid, atS);
        if (one !== null) keepSample(samples, one);
      }
      const metrics = ladder.lastMetricsSeconds();
      if (metrics !== null) lastMs = Math.max(lastMs, metrics * 1000);
    },
    seats: () => new Map([...seats].filter(([, pid]) => isRunning(pid))),
    measuring: () => liveMs !== null,
    measuredS: () => (doneMs + (liveMs === null ? 0 : Math.max(0, lastMs - liveMs))) / 1000,
    tiersEnded: () => ended,
    growth: () => [...followed].map(([role, { pid, samples }]) => ({ role, pid, ...growthOf(samples) })),
  };
}

/** A process that was never restarted may not grow faster than this; the issue's figure for two hours. */
const MOST_SLOPE_BYTES_PER_HOUR = 1e6;
/** Shorter lives are still warming up. */
const LEAST_SLOPE_SECONDS = 3600;

function reportOf(dir: string, state: SoakState, watch: LadderWatch, redis: OwnRedis | null): SoakReport {
  const wrong = falseKills(state.deaths, state.strikes);
  const growth = watch.growth();
  const problems: string[] = [];
  for (const { role, seconds, slopeBytesPerHour, slopeError, fdsFirst, fdsLast } of growth) {
    if (
      slopeBytesPerHour !== null &&
      slopeError !== null &&
      seconds >= LEAST_SLOPE_SECONDS &&
      slopeBytesPerHour - slopeError > MOST_SLOPE_BYTES_PER_HOUR
    ) {
      problems.push(`${role} grows by ${(slopeBytesPerHour / 1e6).toFixed(2)} MB/h`);
    }
    if (fdsLast > fdsFirst + 8) problems.push(`${role} has ${fdsLast} open files, it had ${fdsFirst}`);
  }
  if (wrong.length > 0) problems.push(`${wrong.length} false kills`);
  for (const [i, verdict] of state.verdicts.entries())
    if (verdict !== 'valid') problems.push(`run ${i + 1} is ${verdict} (exit code ${state.exitCodes[i]})`);
  const strikes: SoakReport['strikes'] = {};
  for (const { fault } of state.strikes) (strikes as Record<string, number>)[fault] = ((strikes as Record<string, number>)[fault] ?? 0) + 1;
  return {
    schema_version: '1.0.0',
    plan: state.label,
    seed: state.seed,
    started_at: state.startedAt,
    hours: state.hours,
    runs: state.runs.map((run) => run.replace(`${dir}/`, '')),
    done_s: state.doneSeconds,
    finished: restOf(state.plan, state.doneSeconds + 1) === null,
    strikes,
    newest_strikes: state.strikes.slice(-100),
    deaths: state.deaths.length,
    false_kills: wrong.slice(0, 100),
    restarts: state.restarts,
    suspensions: state.suspensions,
    growth,
    redis: redis === null ? 'none' : 'own',
    exit_codes: state.exitCodes,
    verdicts: state.verdicts,
    machine: readMachineFacts(),
    problems,
  };
}
