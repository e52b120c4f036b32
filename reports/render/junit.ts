// junit.xml: the verdict for CI systems that show tests. A suite per tier and one for the run; a case per validity reason, objective and
// metric. The three questions stay apart: INVALID is an `error`, a missed objective a `failure`, a metric only tells its value. What XML
// cannot hold is made visible by oneLine or left out by the builder. Pure.
import junit, { type Builder, type TestCase } from 'junit-report-builder';
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';
import { oneLine } from '../quantity.js';
import { missedText } from '../stats/objectives.js';

type Suite = ReturnType<Builder['testSuite']>;
type Reason = RunRecord['validity']['reasons'][number];

/** The package exports the builder itself; its types say that it stands under `default`. */
const library = junit as unknown as Builder;

/** Reasons beyond this are counted, not listed. */
const MAX_CASES = 200;

function validityCases(suite: Suite, className: string, valid: boolean, reasons: readonly Reason[]): void {
  if (valid) suite.testCase().className(className).name('valid');
  else if (reasons.length === 0) suite.testCase().className(className).name('valid').error('the record names no reason', 'INVALID');
  for (const { code, message, advice } of reasons.slice(0, MAX_CASES)) {
    suite
      .testCase()
      .className(className)
      .name(`valid: ${oneLine(code, 80)}`)
      .error(oneLine(message), 'INVALID', oneLine(advice));
  }
  if (reasons.length > MAX_CASES)
    suite
      .testCase()
      .className(className)
      .name('valid: more reasons')
      .error(`${reasons.length - MAX_CASES} more in run.json`, 'INVALID');
}

function objectiveCases(suite: Suite, className: string, tier: TierResult): void {
  for (const result of tier.slos) {
    const found = suite
      .testCase()
      .className(className)
      .name(`slo: ${oneLine(result.slo, 120)}`);
    if (result.verdict === 'missed') found.failure(oneLine(missedText(result)), 'SLO');
    else if (result.verdict === 'not-measured') found.skipped();
    else found.standardOutput(`${oneLine(result.metric, 120)} = ${result.value}`);
  }
}

const METRICS: readonly (readonly [name: string, of: (tier: TierResult) => number | null])[] = [
  ['sampling_sps', (tier) => tier.sampling_sps],
  ['training_sps', (tier) => tier.training_sps],
  ['goodput_sps', (tier) => tier.goodput_sps],
  ['step_latency_us.p50', (tier) => tier.step_latency_us.p50],
  ['step_latency_us.p99', (tier) => tier.step_latency_us.p99],
  ['time_to_all_live_s', (tier) => tier.time_to_all_live_s],
  ['batch_fill', (tier) => tier.batch_fill],
  ['restarts', (tier) => tier.restarts],
];

function metricCases(suite: Suite, className: string, tier: TierResult): void {
  for (const [name, of] of METRICS) {
    const value = tier.seconds > 0 ? of(tier) : null;
    const found: TestCase = suite.testCase().className(className).name(`metric: ${name}`);
    if (value === null) found.skipped();
    else found.standardOutput(`${name} = ${value}`);
  }
}

/** The whole document, ending in a newline. */
export function renderJunit({ record }: ReportModel): string {
  const builder = library.newBuilder().name(`envladder ${oneLine(record.run.id, 120)}`);
  const run = builder.testSuite().name('run').timestamp(oneLine(record.run.started_at, 40)).time(record.run.seconds);
  run.property('envladder', oneLine(record.run.envladder_version, 80)).property('command', oneLine(record.run.command, 2_000));
  validityCases(run, 'envladder.run', record.verdict === 'valid', record.validity.reasons);
  for (const tier of record.tiers) {
    // A dot would be one more level in most viewers.
    const label = oneLine(tier.label, 80);
    const className = `envladder.tier ${label.replace(/\./g, '\u00b7')}`;
    const suite = builder.testSuite().name(`tier ${label}`).time(tier.seconds);
    suite.property('envs', String(tier.envs)).property('envs_live', String(tier.envs_live));
    validityCases(suite, className, tier.validity.verdict === 'valid', tier.validity.reasons);
    objectiveCases(suite, className, tier);
    metricCases(suite, className, tier);
  }
  return `${builder.build()}\n`;
}
