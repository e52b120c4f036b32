// What a soak has shown so far, and whether anything is wrong with it: false kills, processes that grow, open files that rise, runs that are
// invalid for another reason than the deaths.
import { readMachineFacts } from '../../bench/machine-facts.js';
import type { ChildLadder } from '../child-ladder.js';
import { falseKills } from './soak-faults.js';
import { restOf } from './soak-plan.js';
import type { SoakReport } from './soak-report.js';
import type { SoakState } from './soak-state.js';

/** A ladder calls any death a reason to be invalid; here those are judged one by one, as false kills or not. */
export function verdictOf(ladder: ChildLadder): string {
  const record = ladder.record();
  if (record === null) return 'no record';
  const others = record.validity.reasons.filter(({ code }) => code !== 'worker-died' && code !== 'interrupted');
  return others.length === 0 ? 'valid' : others.map(({ message }) => message).join('; ');
}

/** A process that was never restarted may not grow faster than this; the figure for two hours. */
const MOST_SLOPE_BYTES_PER_HOUR = 1e6;
/** Shorter lives are still warming up. */
const LEAST_SLOPE_SECONDS = 3600;

export function reportOf(dir: string, state: SoakState, growth: SoakReport['growth'], ownRedis: boolean): SoakReport {
  const wrong = falseKills(state.deaths, state.strikes);
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
    redis: ownRedis ? 'own' : 'none',
    exit_codes: state.exitCodes,
    verdicts: state.verdicts,
    machine: readMachineFacts(),
    problems,
  };
}
