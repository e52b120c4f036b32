// The verdict on each metric. Timing: `regressed` needs both a test that passes after Holm's correction over all metrics and an interval
// of the shift that lies wholly beyond max(declared noise, 2 x the A/A floor). Counts are compared exactly. Pure and seeded.
import { bootstrapInterval, type Interval } from '../stats/bootstrap.js';
import { hodgesLehmann } from '../stats/hodges-lehmann.js';
import { holmAdjusted } from '../stats/holm.js';
import { leastPossibleP, mannWhitney } from '../stats/mann-whitney.js';
import { median } from '../stats/median.js';
import { noiseFloor } from '../stats/noise-floor.js';
import { seedOf } from '../stats/seeded-random.js';
import { type MetricKey, metricId } from './run-metrics.js';

export const METRIC_VERDICTS = ['regressed', 'missing', 'inconclusive-noisy', 'insufficient-data', 'improved', 'new', 'unchanged'] as const;
export type MetricVerdict = (typeof METRIC_VERDICTS)[number];

/** Chance of even one false alarm in a comparison of equal programs. */
export const ALPHA = 0.05;

export interface MetricSamples {
  readonly key: MetricKey;
  /** One value per run. */
  readonly base: readonly number[];
  readonly candidate: readonly number[];
  /** Counts: half-width of what the same program may count. */
  readonly slack: number;
}

export interface JudgedMetric {
  readonly key: MetricKey;
  readonly verdict: MetricVerdict;
  readonly base: readonly number[];
  readonly candidate: readonly number[];
  /** Hodges-Lehmann shift and its interval as shares of the base's median; positive = the candidate's value is larger. */
  readonly shift: number | null;
  readonly interval: Interval | null;
  readonly p: number | null;
  readonly pAdjusted: number | null;
  readonly floor: number | null;
  /** max(declared noise, 2 x floor); null for counts. */
  readonly threshold: number | null;
}

export interface JudgeOptions {
  readonly seed: number;
  readonly alpha?: number;
  /** Bootstrap draws; tests that compare thousands of times take fewer. */
  readonly draws?: number;
  /** Declared noise by metric name, in place of the metric's own. */
  readonly noise?: Readonly<Record<string, number>>;
}

const NOTHING = { shift: null, interval: null, p: null, pAdjusted: null, floor: null, threshold: null } as const;

function scaleOf(base: readonly number[]): number {
  const middle = Math.abs(median(base));
  return middle > 0 ? middle : Math.max(...base.map(Math.abs)) || 1;
}

function judgeCount({ key, base, candidate, slack }: MetricSamples): JudgedMetric {
  const high = Math.max(...base) + slack;
  const low = Math.min(...base) - slack;
  const [worse, better] =
    key.better === 'lower'
      ? [candidate.some((value) => value > high), candidate.some((value) => value < low)]
      : [candidate.some((value) => value < low), candidate.some((value) => value > high)];
  const shift = hodgesLehmann(base, candidate) / scaleOf(base);
  return { ...NOTHING, key, base, candidate, shift, verdict: worse ? 'regressed' : better ? 'improved' : 'unchanged' };
}

interface Measured extends Omit<JudgedMetric, 'verdict' | 'threshold'> {
  readonly threshold: number;
  readonly declaredNoise: number;
}

function measure({ key, base, candidate }: MetricSamples, p: number, pAdjusted: number | null, options: JudgeOptions): Measured {
  const seed = seedOf(metricId(key), options.seed);
  const scale = scaleOf(base);
  // Rising, so that resampling depends on what was measured and not on the order it was read in.
  const [sortedBase, sortedCandidate] = [base, candidate].map((values) => [...values].sort((a, b) => a - b)) as [number[], number[]];
  const found = bootstrapInterval(sortedBase, sortedCandidate, hodgesLehmann, {
    seed,
    ...(options.draws === undefined ? {} : { draws: options.draws }),
  });
  const floor = noiseFloor(sortedBase, seed);
  const declaredNoise = options.noise?.[key.name] ?? key.noise;
  return {
    key,
    base,
    candidate,
    shift: hodgesLehmann(base, candidate) / scale,
    interval: found === null ? null : { low: found.low / scale, high: found.high / scale },
    p,
    pAdjusted,
    floor,
    declaredNoise,
    threshold: Math.max(declaredNoise, 2 * (floor ?? 0)),
  };
}

function judgeTiming(measured: Measured, alpha: number): MetricVerdict {
  const { key, interval, pAdjusted, threshold, declaredNoise } = measured;
  if (interval === null || pAdjusted === null) return 'insufficient-data';
  // Turned so that positive is worse.
  const [low, high] = key.better === 'lower' ? [interval.low, interval.high] : [-interval.high, -interval.low];
  const differs = pAdjusted <= alpha;
  if (differs && low > threshold) return 'regressed';
  if (differs && high < -threshold) return 'improved';
  // By the declared noise, not by the threshold: a machine that scatters by 40 % rules out no change of 30 %.
  return low >= -declaredNoise && high <= declaredNoise ? 'unchanged' : 'inconclusive-noisy';
}

/** Judges all metrics of a comparison together, in the order given. */
export function judgeMetrics(samples: readonly MetricSamples[], options: JudgeOptions): JudgedMetric[] {
  const alpha = options.alpha ?? ALPHA;
  const onBoth = samples.filter((each) => each.base.length > 0 && each.candidate.length > 0);
  const timings = onBoth.filter((each) => each.key.kind === 'timing');
  // With so few runs that not even the clearest difference could pass, a metric is not tested and takes no share of alpha.
  const tested = timings.filter((each) => leastPossibleP(each.base.length, each.candidate.length) * timings.length <= alpha);
  const ps = new Map(timings.map((each) => [each, mannWhitney(each.candidate, each.base).p]));
  const adjusted = holmAdjusted(tested.map((each) => ps.get(each) ?? 1));
  return samples.map((each): JudgedMetric => {
    const { key, base, candidate } = each;
    if (candidate.length === 0) return { ...NOTHING, key, base, candidate, verdict: 'missing' };
    if (base.length === 0) return { ...NOTHING, key, base, candidate, verdict: 'new' };
    if (key.kind === 'count') return judgeCount(each);
    const measured = measure(each, ps.get(each) ?? 1, adjusted[tested.indexOf(each)] ?? null, options);
    const { declaredNoise: _, ...judged } = measured;
    return { ...judged, verdict: judgeTiming(measured, alpha) };
  });
}
