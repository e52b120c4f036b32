// The run as one TensorBoard event file: curves of the run, of each kind and each policy; distributions of returns per kind over the run
// and per kind and tier, of latency per tier. Steps are agent steps (frames published), wall time is the run's own. Pure: no clock.
import type { MetricsLine } from '../../../harness/contract/metrics.js';
import type { RunRecord } from '../../../harness/contract/run-record.js';
import type { ReportModel } from '../../model.js';
import { oneLine } from '../../quantity.js';
import { ratesOf } from '../../stats/timeline.js';
import { distributionOf, distributionOfPairs } from './distributions.js';
import { type EventTime, encodeEvent, encodeFileVersion, type SummaryValue } from './event.js';
import { joinBytes } from './proto-writer.js';
import { frameRecord } from './tf-record.js';

/** TensorBoard's distributions tab shows one ridge per window. */
const WINDOWS = 40;
/** Names beyond this of one family are left out: a browser tab ends before. */
const MAX_NAMES = 200;

type Timed = readonly [time: EventTime, values: readonly SummaryValue[]];

export interface EventFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A part of a tag: the slash is TensorBoard's, so names from outside have none. */
function tagPart(text: string): string {
  return oneLine(text, 80).replace(/\//g, '\u2215') || '(empty)';
}

const scalar = (tag: string, value: number | null | undefined): SummaryValue[] =>
  value === null || value === undefined ? [] : [{ tag, scalar: value }];

const first = <Value>(record: Readonly<Record<string, Value>>): [string, Value][] => Object.entries(record).slice(0, MAX_NAMES);

/** Time of each line. Steps never fall: TensorBoard would take a fall for a restart and hide what came before. */
function timesOf(metrics: readonly MetricsLine[], startS: number): EventTime[] {
  let step = 0;
  return metrics.map((line) => {
    step = Math.min(Number.MAX_SAFE_INTEGER, Math.max(step, Math.trunc(line.published)));
    return { wallS: startS + line.t_s, step };
  });
}

function scalarsOf(line: MetricsLine): SummaryValue[] {
  return [
    ...scalar('run/envs_live', line.envs_live),
    ...scalar('run/batch_fill', line.batch_fill),
    ...scalar('run/updates', line.updates),
    ...scalar('run/restarts', line.restarts),
    ...scalar('run/quarantined', line.quarantined),
    ...first(line.memory_bytes).flatMap(([role, bytes]) => scalar(`memory_bytes/${tagPart(role)}`, bytes)),
    ...first(line.kinds).flatMap(([kind, { episodes, return_mean, length_mean }]) => [
      ...scalar(`return_mean/${tagPart(kind)}`, return_mean),
      ...scalar(`episode_length_mean/${tagPart(kind)}`, length_mean),
      ...scalar(`episodes/${tagPart(kind)}`, episodes),
    ]),
    ...first(line.losses).flatMap(([policy, terms]) =>
      first(terms).flatMap(([term, value]) => scalar(`loss ${tagPart(policy)}/${tagPart(term)}`, value)),
    ),
  ];
}

function rateEvents(metrics: readonly MetricsLine[], times: readonly EventTime[], startS: number): Timed[] {
  const stepAt = new Map(metrics.map((line, i) => [line.t_s, times[i]?.step ?? 0]));
  return ratesOf(metrics).map(({ t, samplingSps, trainingSps }) => [
    { wallS: startS + t, step: stepAt.get(t) ?? 0 },
    [...scalar('run/sampling_sps', samplingSps), ...scalar('run/training_sps', trainingSps)],
  ]);
}

/** What the lines of a stretch of the run said of each kind, as one distribution per kind. */
function returnsIn(lines: readonly MetricsLine[], tag: (kind: string) => string): SummaryValue[] {
  const samples = new Map<string, number[]>();
  for (const line of lines) {
    for (const [kind, { return_mean: mean }] of first(line.kinds)) {
      if (mean === null) continue;
      const known = samples.get(kind);
      if (known === undefined) samples.set(kind, [mean]);
      else known.push(mean);
    }
  }
  return [...samples].flatMap(([kind, values]) => {
    const distribution = distributionOf(values);
    return distribution === undefined ? [] : [{ tag: tag(kind), distribution }];
  });
}

function windowEvents(metrics: readonly MetricsLine[], times: readonly EventTime[]): Timed[] {
  const size = Math.max(1, Math.ceil(metrics.length / WINDOWS));
  const events: Timed[] = [];
  for (let from = 0; from < metrics.length; from += size) {
    const to = Math.min(metrics.length, from + size);
    const time = times[to - 1];
    if (time !== undefined) events.push([time, returnsIn(metrics.slice(from, to), (kind) => `returns/${tagPart(kind)}`)]);
  }
  return events;
}

/** The group of a frame is its tier: returns and latency side by side, and the climb over environments as its own axis. */
function tierEvents(record: RunRecord, metrics: readonly MetricsLine[], times: readonly EventTime[], startS: number): Timed[] {
  return record.tiers.flatMap((tier): Timed[] => {
    const label = tagPart(`${tier.tier}: ${tier.label}`);
    const last = metrics.findLastIndex((line) => line.tier === tier.tier);
    const time = times[last] ?? { wallS: startS + record.run.seconds, step: times.at(-1)?.step ?? 0 };
    const latency = distributionOfPairs(tier.latency_histogram);
    const lines = metrics.filter((line) => line.tier === tier.tier);
    const ladder =
      tier.seconds > 0
        ? [
            ...scalar('by_envs/sampling_sps', tier.sampling_sps),
            ...scalar('by_envs/training_sps', tier.training_sps),
            ...scalar('by_envs/step_latency_us_p99', tier.step_latency_us.p99),
          ]
        : [];
    return [
      [
        time,
        [
          ...returnsIn(lines, (kind) => `returns_of_tier ${label}/${tagPart(kind)}`),
          ...(latency === undefined ? [] : [{ tag: `step_latency_us/${label}`, distribution: latency }]),
        ],
      ],
      [{ wallS: time.wallS, step: tier.envs }, ladder],
    ];
  });
}

/** Name and bytes of the file; TensorBoard knows it by the "tfevents" in its name. */
export function renderEventFile({ record, metrics }: ReportModel): EventFile {
  const parsed = Date.parse(record.run.started_at) / 1000;
  const startS = Number.isFinite(parsed) ? parsed : 0;
  const times = timesOf(metrics, startS);
  const events: Timed[] = [
    ...metrics.flatMap((line, i): Timed[] => {
      const time = times[i];
      return time === undefined ? [] : [[time, scalarsOf(line)]];
    }),
    ...rateEvents(metrics, times, startS),
    ...windowEvents(metrics, times),
    ...tierEvents(record, metrics, times, startS),
  ];
  return {
    name: `events.out.tfevents.${String(Math.max(0, Math.trunc(startS))).padStart(10, '0')}.envladder`,
    bytes: joinBytes([
      frameRecord(encodeFileVersion(startS)),
      ...events.filter(([, values]) => values.length > 0).map(([time, values]) => frameRecord(encodeEvent(time, values))),
    ]),
  };
}
