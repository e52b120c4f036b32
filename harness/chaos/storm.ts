// The storm: one fault a second, of eight kinds in turn by seed, on one rig, for minutes. Quiet and stormy windows alternate, and goodput
// (frames trained or evaluated) is compared between them: the same rig, the same minutes, so that what else the machine does hits both.
// Bounded by `minutes`; every fault is logged with its time.
import { monotonicMs } from '../supervisor/clock.js';
import type { Findings, RowContext } from './chaos-row.js';
import { balanceOf } from './invariants/events.js';
import { judgeRig } from './invariants/judge-rig.js';
import { quantile } from './quantile.js';
import { type Rig, raiseRig, TRIGGER_MODULE } from './rig.js';
import { pickOne, seededRandom } from './seeded-random.js';
import { makeTrigger, type Trigger } from './trigger.js';
import { watchFor } from './until.js';

export const STORM_FAULTS = ['SIGKILL', 'SIGSTOP', 'hang', 'spin', 'segfault', 'throw', 'nan', 'shape'] as const;
export type StormFault = (typeof STORM_FAULTS)[number];

/** Goodput that a storm may cost. */
export const MOST_LOSS = 0.05;
const WINDOW_SECONDS = 10;
const WORKERS = 32;
const ENVS = 320;

export interface StormOptions {
  readonly minutes: number;
  /** Faults per second. */
  readonly rate: number;
}

export interface StormResult {
  readonly result: 'PASS' | 'FAIL';
  readonly reason: string;
  /** A sentence with the figures. */
  readonly text: string;
  readonly minutes: number;
  readonly rate: number;
  readonly seed: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly goodput_quiet: number;
  readonly goodput_storm: number;
  readonly loss: number;
  readonly frames_checked: number;
  readonly violations: number;
  readonly published: number;
  readonly gap: number;
  readonly restarts: number;
  readonly rebuilds: number;
  readonly detect_ms: { readonly p50: number | null; readonly p99: number | null };
  readonly recover_ms: { readonly p50: number | null; readonly p99: number | null };
  readonly invariants: Readonly<Record<string, boolean | null>>;
}

interface Strike {
  readonly fault: StormFault;
  readonly worker: number;
  readonly ms: number;
}

/** Frames that came to something, over all workers: read at a window's ends. */
const goodFrames = async (rig: Rig): Promise<{ ms: number; frames: number }> => {
  const snapshot = await rig.crew.snapshot();
  return { ms: snapshot.monotonicMs, frames: snapshot.trained + snapshot.evaluated };
};

/** One fault now, on a worker that is up and not struck in the last seconds; null when there is none. */
function strike(rig: Rig, trigger: Trigger, fault: StormFault, random: () => number, recent: readonly Strike[]): Strike | null {
  const now = monotonicMs();
  const words = rig.sampler.look();
  const busy = new Set(recent.filter(({ ms }) => now - ms < 4000).map(({ worker }) => worker));
  const free = [...rig.segments.keys()].filter((worker) => !busy.has(worker));
  if (free.length === 0) return null;
  const worker = pickOne(free, random);
  const alive = rig.envsOf(worker).filter((env) => words.retired[env] === 0);
  if (alive.length === 0) return null;
  if (fault === 'SIGKILL' || fault === 'SIGSTOP') {
    try {
      process.kill(rig.pid(`worker ${worker}`), fault);
    } catch {
      // Between two lives.
      return null;
    }
  } else trigger.pull(pickOne(alive, random), fault);
  return { fault, worker, ms: now };
}

/** From each fatal strike to the death told, and to the worker's next life. */
function clocks(rig: Rig, strikes: readonly Strike[]): { detect: number[]; recover: number[] } {
  const fatal = strikes.filter(({ fault }) => fault === 'SIGKILL' || fault === 'segfault');
  const after = (type: 'worker-died' | 'worker-restarted', { worker, ms }: Strike): number[] => {
    const event = rig.events.find((one) => one.type === type && one.worker === worker && one.ms >= ms);
    return event === undefined ? [] : [event.ms - ms];
  };
  return { detect: fatal.flatMap((one) => after('worker-died', one)), recover: fatal.flatMap((one) => after('worker-restarted', one)) };
}

export async function runStorm(context: RowContext, { minutes, rate }: StormOptions, over: () => boolean): Promise<StormResult> {
  const trigger = makeTrigger(context, ENVS);
  const random = seededRandom(context.seed, 2);
  const rig = await raiseRig(context, {
    module: TRIGGER_MODULE,
    // Half of what other rigs do: 32 processes need more air, and lost goodput should be that of the struck.
    paceMs: 20,
    plan: {
      tiers: [ENVS],
      workers: WORKERS,
      mix: { 'trigger-probe': trigger.entry },
      // Sampled checks let most of the NaN through: what a storm is about is that none is trained.
      check: 'full',
      stepDeadlineSeconds: 0.5,
      health: {
        frozenSeconds: 1,
        blockedSeconds: 1,
        graceSeconds: 0.1,
        envBudget: { restarts: 100_000 },
        crashBudget: { restarts: 100_000 },
        workerBudget: { restarts: 100_000 },
        runBudget: { restarts: 1_000_000 },
        backoff: { baseSeconds: 0.01, maxSeconds: 0.1 },
      },
    },
  });
  try {
    const strikes: Strike[] = [];
    const windows: { storm: boolean; rate: number }[] = [];
    const endMs = monotonicMs() + minutes * 60_000;
    const firstMs = monotonicMs();
    for (let storm = false; monotonicMs() < endMs && !over(); storm = !storm) {
      const from = await goodFrames(rig);
      const untilMs = Math.min(endMs, monotonicMs() + WINDOW_SECONDS * 1000);
      while (monotonicMs() < untilMs && !over()) {
        await watchFor(1000 / rate);
        if (!storm) continue;
        const one = strike(rig, trigger, pickOne(STORM_FAULTS, random), random, strikes.slice(-64));
        if (one !== null) strikes.push(one);
      }
      const to = await goodFrames(rig);
      windows.push({ storm, rate: (to.frames - from.frames) / ((to.ms - from.ms) / 1000) });
      context.say(`${storm ? 'storm' : 'quiet'} ${windows.at(-1)?.rate.toFixed(0)} frames/s, ${strikes.length} faults so far`);
    }
    await watchFor(3000);
    const end = await rig.stop();
    const findings: Findings = await judgeRig(rig, end, {
      expect: [],
      touched: [],
      noRates: 'goodput is compared instead',
      windows: { beforeMs: firstMs, faultMs: Number.POSITIVE_INFINITY, afterMs: endMs, seenMs: endMs },
    });
    return resultOf(rig, context.seed, { minutes, rate }, strikes, windows, findings, balanceOf(end));
  } finally {
    await rig.stop();
    await rig.writer.close();
    trigger.close();
  }
}

/**
 * Goodput with and without faults, and the loss: each stormy window against the quiet ones right before and after it, and of those shares the
 * median, so that one burst of somebody else's work decides nothing. Pure.
 */
export function compareWindows(windows: readonly { readonly storm: boolean; readonly rate: number }[]): {
  quiet: number;
  stormy: number;
  loss: number;
} {
  const mean = (rates: readonly number[]): number => rates.reduce((sum, one) => sum + one, 0) / rates.length;
  const shares = windows.flatMap(({ storm, rate }, i) => {
    const beside = [windows[i - 1], windows[i + 1]].flatMap((window) => (window?.storm === false ? [window.rate] : []));
    return storm && beside.length > 0 ? [rate / mean(beside)] : [];
  });
  const of = (storm: boolean): number => mean(windows.filter((window) => window.storm === storm).map(({ rate }) => rate));
  return { quiet: of(false), stormy: of(true), loss: 1 - (quantile(shares, 0.5) ?? Number.NaN) };
}

function resultOf(
  rig: Rig,
  seed: number,
  { minutes, rate }: StormOptions,
  strikes: readonly Strike[],
  windows: readonly { storm: boolean; rate: number }[],
  findings: Findings,
  balance: { gap: number; text: string; published: number } | null,
): StormResult {
  const { quiet, stormy, loss } = compareWindows(windows);
  const { detect, recover } = clocks(rig, strikes);
  const reasons = Object.entries(findings)
    .filter(([, finding]) => finding.ok === false)
    .map(([name, finding]) => `${name}: ${finding.evidence}`);
  if (!(loss <= MOST_LOSS)) reasons.push(`goodput fell by ${(loss * 100).toFixed(1)} %, at most ${MOST_LOSS * 100} % is allowed`);
  const lost = rig.events.filter(({ type }) => type === 'range-lost' || type === 'learner-died');
  if (lost.length > 0) reasons.push(lost[0]?.message ?? '');
  const p99 = (times: readonly number[]): string => (times.length === 0 ? 'none' : `${Math.round(quantile(times, 0.99) ?? 0)} ms (p99)`);
  const faults: Record<string, number> = {};
  for (const { fault } of strikes) faults[fault] = (faults[fault] ?? 0) + 1;
  const checked = /^(\d+) frames/.exec(findings.I1?.evidence ?? '')?.[1];
  return {
    result: reasons.length === 0 ? 'PASS' : 'FAIL',
    reason: reasons.join('; '),
    text: `${strikes.length} faults in ${minutes} min on ${WORKERS} workers and ${ENVS} envs: ${quiet.toFixed(0)} good frames/s without, ${stormy.toFixed(0)} with faults: ${(loss * 100).toFixed(1)} % lost; kills noticed after ${p99(detect)}, the next life up after ${p99(recover)}; ${findings.I1?.evidence}; ${balance?.text ?? 'no balance'}`,
    minutes,
    rate,
    seed,
    faults,
    goodput_quiet: quiet,
    goodput_storm: stormy,
    loss,
    frames_checked: Number(checked ?? 0),
    violations: findings.I1?.ok === true ? 0 : -1,
    published: balance?.published ?? 0,
    gap: balance?.gap ?? Number.NaN,
    restarts: rig.events.filter(({ type }) => type === 'worker-restarted').length,
    rebuilds: rig.events.filter(({ type }) => type === 'env-rebuilt').length,
    detect_ms: { p50: quantile(detect, 0.5), p99: quantile(detect, 0.99) },
    recover_ms: { p50: quantile(recover, 0.5), p99: quantile(recover, 0.99) },
    invariants: Object.fromEntries(Object.entries(findings).map(([name, finding]) => [name, finding.ok])),
  };
}
