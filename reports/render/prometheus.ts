// metrics.prom: the record in the Prometheus text format 0.0.4, for a textfile collector or a push gateway. Names begin with envladder_,
// units are base units (seconds, bytes). What was not measured has no sample. Pure; no timestamps, so that a scrape decides the time.
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../model.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [suffix: string, labels: Labels, value: number];

/** Upper bounds in seconds: what Grafana's heat maps expect, from a fast step to a hang. */
const BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Label values may hold anything once backslash, quote and line feed are escaped; NUL and half characters are no UTF-8. */
function escapeLabel(value: string): string {
  return value
    .slice(0, 400)
    .replace(/[\0\ud800-\udfff]/gu, '\uFFFD')
    .replace(/\\/g, '\\\\')
    .replace(/\n/g, '\\n')
    .replace(/"/g, '\\"');
}

function printValue(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value);
}

function printFamily(name: string, type: 'gauge' | 'histogram', help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  // A series may stand once: the first of two with equal labels wins.
  const series = new Map<string, string>();
  for (const [suffix, labels, value] of samples) {
    const printed = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
    const key = `${name}${suffix}{${printed.join(',')}}`;
    if (!series.has(key)) series.set(key, `${key} ${printValue(value)}\n`);
  }
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${[...series.values()].join('')}`;
}

/** The tier's own histogram, counted into the bounds above. A mid-point on a bound belongs to the bucket it closes. */
function bucketSamples(tier: TierResult, labels: Labels): Sample[] {
  const { value_us: values, count } = tier.latency_histogram;
  if (values.length === 0) return [];
  const atMost = (seconds: number) => values.reduce((sum, us, i) => sum + (us / 1e6 <= seconds ? (count[i] ?? 0) : 0), 0);
  const total = atMost(Infinity);
  return [
    ...BUCKETS_S.map((bound): Sample => ['_bucket', { ...labels, le: String(bound) }, atMost(bound)]),
    ['_bucket', { ...labels, le: '+Inf' }, total],
    ['_sum', labels, values.reduce((sum, us, i) => sum + us * (count[i] ?? 0), 0) / 1e6],
    ['_count', labels, total],
  ];
}

function tierFamilies({ tiers, run }: RunRecord): string[] {
  const labelled = tiers.map((tier): readonly [TierResult, Labels] => [tier, { run: run.id, tier: String(tier.tier), label: tier.label }]);
  const measured = labelled.filter(([tier]) => tier.seconds > 0);
  const gauge = (name: string, help: string, of: (tier: TierResult) => number | null, from = labelled) =>
    printFamily(
      `envladder_tier_${name}`,
      'gauge',
      help,
      from.flatMap(([tier, labels]): Sample[] => {
        const value = of(tier);
        return value === null ? [] : [['', labels, value]];
      }),
    );
  const counts = (name: string, help: string, of: (tier: TierResult) => readonly (readonly [Labels, number])[]) =>
    printFamily(
      `envladder_tier_${name}`,
      'gauge',
      help,
      labelled.flatMap(([tier, labels]) => of(tier).map(([more, value]): Sample => ['', { ...labels, ...more }, value])),
    );
  return [
    gauge('valid', '1 when the tier measured what it claims, else 0.', (tier) => Number(tier.validity.verdict === 'valid')),
    gauge('envs', 'Environments planned.', (tier) => tier.envs),
    gauge('envs_live', 'Environments live at the end of the tier.', (tier) => tier.envs_live),
    gauge('measured_seconds', 'Time measured, from all live to the end of the tier.', (tier) => tier.seconds),
    gauge('time_to_first_batch_seconds', 'Start of the tier to its first batch.', (tier) => tier.time_to_first_batch_s),
    gauge('time_to_all_live_seconds', 'Start of the tier to its last environment live.', (tier) => tier.time_to_all_live_s),
    gauge('agent_steps', 'Frames published in the measured time.', (tier) => tier.agent_steps, measured),
    gauge('sampling_steps_per_second', 'Frames published per measured second.', (tier) => tier.sampling_sps, measured),
    gauge('training_steps_per_second', 'Transitions trained per measured second.', (tier) => tier.training_sps, measured),
    gauge('goodput_steps_per_second', 'Valid transitions per measured second.', (tier) => tier.goodput_sps, measured),
    gauge('batch_fill_ratio', 'Frames per inference batch over the largest batch.', (tier) => tier.batch_fill, measured),
    gauge('updates', 'PPO updates.', (tier) => tier.updates),
    gauge('worker_restarts', 'Workers restarted.', (tier) => tier.restarts),
    gauge('shared_memory_bytes', 'Shared segments.', (tier) => tier.shm_bytes),
    gauge('copied_bytes', 'Bytes copied by the gather.', (tier) => tier.bytes_copied),
    counts('memory_pss_bytes', 'Proportional set size by role.', (tier) =>
      Object.entries(tier.memory).map(([role, { pss_bytes }]) => [{ role }, pss_bytes] as const),
    ),
    counts('frames', 'Where the frames of the tier ended; sums to published.', ({ balance }) => [
      ...(['trained', 'evaluated', 'superseded', 'in_flight'] as const).map((end) => [{ end, reason: '' }, balance[end]] as const),
      ...Object.entries(balance.dropped).map(([reason, count]) => [{ end: 'dropped', reason }, count] as const),
    ]),
    counts('kind_episodes', 'Finished episodes by entry of the mix.', (tier) =>
      Object.entries(tier.kinds).map(([entry, { kind, episodes }]) => [{ entry, kind }, episodes] as const),
    ),
    counts('kind_return_mean', 'Mean return by entry of the mix.', (tier) =>
      Object.entries(tier.kinds).flatMap(([entry, { kind, return_mean: mean }]) =>
        mean === null ? [] : [[{ entry, kind }, mean] as const],
      ),
    ),
    counts('slo_met', '1 when the objective was met, 0 when it was missed.', (tier) =>
      tier.slos
        .filter(({ verdict }) => verdict !== 'not-measured')
        .map(({ slo, verdict }) => [{ slo }, Number(verdict === 'met')] as const),
    ),
    gauge('steal_ratio', 'CPU time taken by the hypervisor over all CPU time.', (tier) => tier.machine_load?.steal_share ?? null),
    gauge(
      'foreign_load_ratio',
      'CPU time of processes not of this run over all CPU time.',
      (tier) => tier.machine_load?.foreign_share ?? null,
    ),
    printFamily(
      'envladder_tier_step_latency_seconds',
      'histogram',
      'Action stored to frame published.',
      labelled.flatMap(([tier, labels]) => bucketSamples(tier, labels)),
    ),
  ];
}

/** The whole exposition, ending in a newline. */
export function renderPrometheus({ record }: ReportModel): string {
  const { run, machine, learner } = record;
  const own: Labels = { run: run.id };
  const facts: Labels = {
    ...own,
    version: run.envladder_version,
    commit: run.git_commit ?? '',
    state: run.state,
    learner: learner.mode,
    backend: learner.backend ?? '',
    node: machine.node,
  };
  return [
    printFamily('envladder_run_info', 'gauge', 'Facts of the run as labels; always 1.', [['', facts, 1]]),
    printFamily('envladder_run_valid', 'gauge', '1 when the run measured what it claims, else 0.', [
      ['', own, Number(record.verdict === 'valid')],
    ]),
    ...(record.headline === null
      ? []
      : [
          printFamily('envladder_run_envs_held', 'gauge', 'Environments of the highest tier that is valid and meets every objective.', [
            ['', own, record.headline.envs],
          ]),
        ]),
    printFamily('envladder_run_exit_code', 'gauge', 'Exit code of the command.', [['', own, record.exit_code]]),
    printFamily('envladder_run_seconds', 'gauge', 'Duration of the run.', [['', own, run.seconds]]),
    printFamily('envladder_run_deaths', 'gauge', 'Processes that died.', [['', own, record.deaths.length]]),
    ...tierFamilies(record),
  ].join('');
}
