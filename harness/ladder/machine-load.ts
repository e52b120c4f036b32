// Who else used this run's CPUs between two moments, from two readings of the kernel's counters. Pure; the readings are taken by
// machine-load-probe.ts at both ends of a tier's measured time.
import { FOREIGN_WARN_SHARE, STEAL_WARN_SHARE } from '../contract/limits.js';
import type { Plan } from '../contract/plan.js';
import type { MachineLoad, Reason } from '../contract/run-record.js';

/** Counters since boot, of the CPUs that this process may use. Ticks are the kernel's USER_HZ, whatever that is: only shares are made of them. */
export interface LoadReading {
  readonly totalTicks: number;
  /** user + nice + system. */
  readonly busyTicks: number;
  readonly stealTicks: number;
  /** Of this process, its descendants, and those of them that ended. */
  readonly ownTicks: number;
  readonly throttleEvents: number | null;
  readonly meanMhz: number | null;
}

/** Ticks below which shares say nothing: half a second of one CPU. */
const MIN_TICKS = 50;
/** Mean frequency that fell below this share of its start is worth a word; governors wander by a few per cent. */
const FREQUENCY_WARN_RATIO = 0.9;

const between = (value: number): number => Math.min(1, Math.max(0, value));

/** Null when the counters could not be read or cover too little time. */
export function machineLoadBetween(from: LoadReading | null, to: LoadReading | null): MachineLoad | null {
  if (from === null || to === null) return null;
  const total = to.totalTicks - from.totalTicks;
  if (total < MIN_TICKS) return null;
  const foreign = to.busyTicks - from.busyTicks - (to.ownTicks - from.ownTicks);
  return {
    steal_share: between((to.stealTicks - from.stealTicks) / total),
    foreign_share: between(foreign / total),
    throttle_events:
      to.throttleEvents === null || from.throttleEvents === null ? null : Math.max(0, to.throttleEvents - from.throttleEvents),
    frequency_ratio: to.meanMhz === null || from.meanMhz === null || from.meanMhz <= 0 ? null : to.meanMhz / from.meanMhz,
  };
}

export interface LoadVerdict {
  readonly reasons: readonly Reason[];
  readonly warnings: readonly Reason[];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** What the machine's load does to a tier of `envs` envs: an invalid reason beyond the plan's limits, a warning beyond the usual. */
export function judgeLoad(load: MachineLoad | null, quiet: Plan['quiet'], envs: number): LoadVerdict {
  const reasons: Reason[] = [];
  const warnings: Reason[] = [];
  const at = ` at ${envs.toLocaleString('en-US')} envs`;
  const judge = (code: string, share: number | null, warn: number, limit: number, who: string, advice: string): void => {
    if (share === null) return;
    const said = `${who} took ${percent(share)} of the CPU time${at}`;
    if (share > limit) reasons.push({ code, message: `${said}; the limit is ${percent(limit)}`, advice });
    else if (share > warn) warnings.push({ code, message: said, advice });
  };
  const { maxStealShare, maxForeignShare } = quiet;
  judge(
    'steal',
    load?.steal_share ?? null,
    STEAL_WARN_SHARE,
    maxStealShare,
    'the hypervisor',
    'run on a machine whose CPUs are not shared',
  );
  judge(
    'foreign-load',
    load?.foreign_share ?? null,
    FOREIGN_WARN_SHARE,
    maxForeignShare,
    'other processes',
    'stop what else runs (top), or run on a machine of its own',
  );
  if ((load?.throttle_events ?? 0) > 0)
    warnings.push({
      code: 'throttled',
      message: `cores throttled ${load?.throttle_events} times${at}`,
      advice: 'look at cooling and power limits (dmesg); figures are lower than they could be',
    });
  const ratio = load?.frequency_ratio ?? null;
  if (ratio !== null && ratio < FREQUENCY_WARN_RATIO)
    warnings.push({
      code: 'frequency-fell',
      message: `the mean core frequency fell to ${percent(ratio)} of what it was${at}`,
      advice: 'fix the governor (cpupower frequency-set -g performance), look at cooling',
    });
  return { reasons, warnings };
}
