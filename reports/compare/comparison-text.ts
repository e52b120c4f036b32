// The words of a comparison, the same in every format: values in their unit, shifts with sign, what the verdict means, what was left open.
// Pure.
import { formatBytes, formatCount, formatMicros, formatRate, formatSeconds, MISSING } from '../quantity.js';
import { leastPossibleP } from '../stats/mann-whitney.js';
import { median } from '../stats/median.js';
import type { Comparison } from './compare-sides.js';
import { type JudgedMetric, METRIC_VERDICTS, type MetricVerdict } from './judge-metrics.js';
import type { MetricKey, MetricUnit } from './run-metrics.js';

const FORMATS: Readonly<Record<MetricUnit, (value: number) => string>> = {
  rate: formatRate,
  micros: formatMicros,
  seconds: formatSeconds,
  bytes: formatBytes,
  count: (value) => (Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(3)))),
};

export function metricText(key: Pick<MetricKey, 'name' | 'tierEnvs'>): string {
  return key.tierEnvs === null ? key.name : `${key.name} @ ${formatCount(key.tierEnvs)} envs`;
}

/** Median of one side's runs. */
export function valueText(values: readonly number[], unit: MetricUnit): string {
  return values.length === 0 ? MISSING : FORMATS[unit](median(values));
}

/** Share with sign: "+3.1 %", "−0.4 %", "0.0 %". */
export function shareText(share: number | null): string {
  if (share === null || !Number.isFinite(share)) return MISSING;
  const size = (Math.abs(share) * 100).toFixed(1);
  return `${size === '0.0' ? '' : share > 0 ? '+' : '\u2212'}${size} %`;
}

export function intervalText(metric: JudgedMetric): string {
  return metric.interval === null ? MISSING : `${shareText(metric.interval.low)} to ${shareText(metric.interval.high)}`;
}

export function pText(p: number | null): string {
  return p === null ? MISSING : p < 0.0001 ? '< 0.0001' : p.toFixed(4);
}

/** What a shift must lie beyond: the threshold of a timing metric, "exact" for counts. */
export function thresholdText(metric: JudgedMetric): string {
  if (metric.key.kind === 'count') return 'exact';
  return metric.threshold === null ? MISSING : `${(metric.threshold * 100).toFixed(1)} %`;
}

/** Metrics that say most first; within a verdict in the order of the run. */
export function byVerdict(metrics: readonly JudgedMetric[]): JudgedMetric[] {
  const rank = (metric: JudgedMetric) => METRIC_VERDICTS.indexOf(metric.verdict);
  return [...metrics].sort((a, b) => rank(a) - rank(b));
}

export function withVerdict(comparison: Comparison, ...verdicts: readonly MetricVerdict[]): JudgedMetric[] {
  return comparison.metrics.filter((metric) => verdicts.includes(metric.verdict));
}

/** Runs per side from which the clearest difference can pass the test with `metrics` metrics. */
export function runsNeeded(metrics: number, alpha: number): number {
  let runs = 2;
  while (leastPossibleP(runs, runs) * metrics > alpha) runs++;
  return runs;
}

function plural(count: number, one: string): string {
  return `${formatCount(count)} ${one}${count === 1 ? '' : 's'}`;
}

function named(metrics: readonly JudgedMetric[]): string {
  const shown = metrics
    .slice(0, 4)
    .map((metric) => `${metricText(metric.key)}${metric.shift === null ? '' : ` (${shareText(metric.shift)})`}`);
  return `${shown.join(', ')}${metrics.length > shown.length ? ` and ${metrics.length - shown.length} more` : ''}`;
}

/** The verdict in one sentence. */
export function verdictSentence(comparison: Comparison): string {
  const worse = withVerdict(comparison, 'regressed');
  const missing = withVerdict(comparison, 'missing');
  const parts = [
    ...(worse.length > 0 ? [`${plural(worse.length, 'metric')} worse: ${named(worse)}`] : []),
    ...(missing.length > 0 ? [`${plural(missing.length, 'metric')} missing: ${named(missing)}`] : []),
  ];
  const open = withVerdict(comparison, 'insufficient-data', 'inconclusive-noisy').length;
  const judged = comparison.metrics.length - open;
  const found = parts.length > 0 ? parts.join('; ') : `none of the ${plural(judged, 'metric')} that could be judged is worse`;
  if (comparison.verdict !== 'invalid') return `${found}.`;
  const total = comparison.base.runs.length + comparison.candidate.runs.length;
  return `${comparison.invalidRuns.length} of ${plural(total, 'run')} did not measure what it claims to, so this is neither pass nor fail; among the valid runs: ${found}.`;
}

/** What the verdict leaves open, one line each. */
export function openQuestions(comparison: Comparison): string[] {
  const few = withVerdict(comparison, 'insufficient-data');
  const noisy = withVerdict(comparison, 'inconclusive-noisy');
  const timings = comparison.metrics.filter(
    (metric) => metric.key.kind === 'timing' && metric.base.length > 0 && metric.candidate.length > 0,
  ).length;
  return [
    ...(few.length > 0
      ? [
          `${plural(few.length, 'metric')} not judged: with ${plural(timings, 'timing metric')} at least ${runsNeeded(timings, comparison.alpha)} valid runs a side are needed, found ${comparison.base.validRuns} and ${comparison.candidate.validRuns}; only counts were compared.`,
        ]
      : []),
    ...(noisy.length > 0
      ? [
          `${plural(noisy.length, 'metric')} could not be decided: the runs scatter too much to find a change beyond noise or to rule one out. More runs or a quieter machine decide it.`,
        ]
      : []),
  ];
}

/** What runs warned of, one line each. */
export function warningLines(comparison: Comparison): string[] {
  const total = comparison.base.runs.length + comparison.candidate.runs.length;
  return comparison.warnings.map(({ runs, message }) => `${formatCount(runs)} of ${plural(total, 'run')} warned, as in: ${message}`);
}

/** How verdicts come about, printed beside them in every format. */
export const METHOD =
  'one value per run and metric; shift = Hodges-Lehmann estimate as a share of the base\u2019s median, with its bootstrap 95 % interval; p = exact two-sided Mann-Whitney test, Holm-adjusted over the timing metrics; regressed = p passes and the interval lies wholly beyond max(declared noise, 2 x the A/A floor measured between halves of the base\u2019s runs); counts are compared exactly';
