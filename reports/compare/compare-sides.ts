// A whole comparison: two sets of runs in, one document out, from which terminal, Markdown and JSON are rendered. Only regressed and
// missing metrics and INVALID runs fail. Pure; refuses runs that cannot be compared.
import type { BuildCount } from '../../harness/contract/build-counts.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { EXIT, type ExitCode } from '../../harness/contract/exit-codes.js';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { ALPHA, type JudgedMetric, type JudgeOptions, judgeMetrics, type MetricSamples } from './judge-metrics.js';
import { blockingDifferences, type Difference, identityOf, notableDifferences, type RunIdentity } from './run-identity.js';
import { buildCountMetric, type MetricKey, type MetricValue, metricId, metricsOf } from './run-metrics.js';

export interface Side {
  /** As the person named it: a folder, a git ref. */
  readonly name: string;
  readonly records: readonly RunRecord[];
  /** What a step of this build costs, where it was counted. */
  readonly counts?: readonly BuildCount[];
}

export interface InvalidRun {
  readonly side: 'base' | 'candidate';
  readonly run: string;
  /** First reason of the record. */
  readonly reason: string;
}

/** A warning that runs carry: the machine was busy, for example. It may explain a shift. */
export interface SharedWarning {
  readonly code: string;
  readonly runs: number;
  /** As the first of them says it. */
  readonly message: string;
}

export interface SideFacts {
  readonly name: string;
  readonly runs: readonly string[];
  readonly validRuns: number;
  readonly commits: readonly string[];
}

export interface Comparison {
  readonly verdict: 'pass' | 'regressed' | 'invalid';
  readonly exitCode: ExitCode;
  readonly alpha: number;
  readonly seed: number;
  readonly identity: RunIdentity;
  readonly base: SideFacts;
  readonly candidate: SideFacts;
  readonly invalidRuns: readonly InvalidRun[];
  /** Differences that were overridden, and those that block nothing but may explain a shift. */
  readonly overridden: readonly Difference[];
  readonly notes: readonly Difference[];
  readonly warnings: readonly SharedWarning[];
  readonly metrics: readonly JudgedMetric[];
  /** Commands that do it again. */
  readonly reproduce: readonly string[];
}

export interface CompareOptions extends JudgeOptions {
  /** Compare in spite of blocking differences, and say so. */
  readonly forceDifferent?: boolean;
  readonly reproduce?: readonly string[];
}

function refuseDifferent(differences: readonly Difference[]): never {
  const list = differences.map(({ what, values }) => `  ${what}: ${values.join(' | ')}`).join('\n');
  throw new EnvladderError(
    'bad-usage',
    `these runs cannot be compared: they differ in more than the program\n${list}\ncompare runs of one plan on one class of machine, or pass --force-different to compare anyway (the report will say so)`,
    { detail: { differences } },
  );
}

/** A run on a busy machine has more to tell: from so many on, the least of them is what the program writes anyway. */
const RUNS_FOR_ROWS = 3;

const validOf = ({ records }: Side): RunRecord[] => records.filter(({ verdict }) => verdict === 'valid');

/** Of the valid runs, and of the build: it was counted apart from them. `rows`: also the rows that each run writes into its events. */
function valuesOf(side: Side, rows: boolean): MetricValue[] {
  const valid = validOf(side);
  const written = rows ? [{ name: 'rows_written', value: Math.min(...valid.map(({ events }) => events.written)) }] : [];
  return [...valid.flatMap(metricsOf), ...[...written, ...(side.counts ?? [])].map(buildCountMetric)];
}

function collect(base: Side, candidate: Side): MetricSamples[] {
  const rows = [base, candidate].every((side) => validOf(side).length >= RUNS_FOR_ROWS);
  const found = new Map<string, { key: MetricKey; base: number[]; candidate: number[]; slack: number }>();
  for (const [side, values] of [['base', valuesOf(base, rows)] as const, ['candidate', valuesOf(candidate, rows)] as const]) {
    for (const { value, slack, ...key } of values) {
      const id = metricId(key);
      const entry = found.get(id) ?? { key, base: [], candidate: [], slack: 0 };
      entry[side].push(value);
      entry.slack = Math.max(entry.slack, slack);
      found.set(id, entry);
    }
  }
  return [...found.values()];
}

function factsOf(side: Side): SideFacts {
  const commits = side.records.map((record) => record.run.git_commit).filter((commit) => commit !== null);
  return {
    name: side.name,
    runs: side.records.map((record) => record.run.id),
    validRuns: side.records.filter((record) => record.verdict === 'valid').length,
    commits: [...new Set(commits)],
  };
}

function invalidOf(side: 'base' | 'candidate', records: readonly RunRecord[]): InvalidRun[] {
  return records
    .filter((record) => record.verdict === 'invalid')
    .map((record) => ({ side, run: record.run.id, reason: record.validity.reasons[0]?.message ?? `it is ${record.run.state}` }));
}

function warningsOf(records: readonly RunRecord[]): SharedWarning[] {
  const found = new Map<string, SharedWarning>();
  for (const record of records) {
    for (const { code, message } of new Map(record.warnings.map((warning) => [warning.code, warning])).values()) {
      const before = found.get(code);
      found.set(code, { code, runs: (before?.runs ?? 0) + 1, message: before?.message ?? message });
    }
  }
  return [...found.values()];
}

/** Compares. Invalid runs are named and left out of the samples. Throws `bad-usage` for runs that cannot be compared. */
export function compareSides(base: Side, candidate: Side, options: CompareOptions): Comparison {
  const all = [...base.records, ...candidate.records];
  const first = base.records[0];
  if (first === undefined || candidate.records.length === 0) {
    throw new EnvladderError(
      'bad-usage',
      `${first === undefined ? base.name : candidate.name}: no run in it; a side needs at least one run`,
    );
  }
  const ids = new Set(base.records.map((record) => record.run.id));
  const shared = candidate.records.find((record) => ids.has(record.run.id));
  if (shared !== undefined) {
    throw new EnvladderError('bad-usage', `run ${shared.run.id} is on both sides; a run can be compared with others only`);
  }
  const blocking = blockingDifferences(all);
  if (blocking.length > 0 && options.forceDifferent !== true) refuseDifferent(blocking);
  const metrics = judgeMetrics(collect(base, candidate), options);
  const invalidRuns = [...invalidOf('base', base.records), ...invalidOf('candidate', candidate.records)];
  const failed = metrics.some((metric) => metric.verdict === 'regressed' || metric.verdict === 'missing');
  // A run that did not measure what it claims to proves nothing, in neither direction: it comes before what the others show.
  const verdict = invalidRuns.length > 0 ? 'invalid' : failed ? 'regressed' : 'pass';
  return {
    verdict,
    exitCode: verdict === 'invalid' ? EXIT.invalid : verdict === 'regressed' ? EXIT.regression : EXIT.good,
    alpha: options.alpha ?? ALPHA,
    seed: options.seed,
    identity: identityOf(first),
    base: factsOf(base),
    candidate: factsOf(candidate),
    invalidRuns,
    overridden: blocking,
    notes: notableDifferences(all),
    warnings: warningsOf(all),
    metrics,
    reproduce: options.reproduce ?? [],
  };
}
