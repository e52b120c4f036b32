// The long run: an `envladder ladder` in a process of its own, with faults injected from outside every so often, watched through its run
// folder and /proc. Its state lies in the soak's folder, so that a soak that was cut off goes on where it stopped. Bounded by its plan.
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { EnvladderError } from '../../contract/errors.js';
import type { Interrupts } from '../../ladder/interrupts.js';
import { makeFolder } from '../../ladder/make-folder.js';
import { readPlan } from '../../ladder/read-plan.js';
import type { RowContext } from '../chaos-row.js';
import { endLadders, startLadder } from '../child-ladder.js';
import { tailEvents } from '../event-tail.js';
import { seededRandom } from '../seeded-random.js';
import { watchFor } from '../until.js';
import { reportOf, verdictOf } from './judge-soak.js';
import { watchLadder } from './ladder-watch.js';
import { type OwnRedis, ownRedis } from './redis-server.js';
import { type RawPlan, restOf } from './soak-plan.js';
import { renderSoak, type SoakReport, writeSoakReport } from './soak-report.js';
import { loadState, newState, type SoakState, STATE_NAME } from './soak-state.js';
import { strike } from './strike.js';

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
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const dir = resolve(options.out);
  const redis = ownRedis(dir);
  // Refused in its own words here, or else by the ladder, whose words nobody would see.
  if (options.plan !== undefined) await readPlan({ plan: options.plan, flags: {}, cores: availableParallelism(), cwd: process.cwd() });
  const state = options.resume ? loadState(dir) : newState(options, dir, redis?.url ?? null);
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
  const report = (): SoakReport => reportOf(dir, state, watch.growth(), redis !== null);
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
