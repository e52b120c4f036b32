// The health of a run as Markdown, in short: states, facts, errors, growth, stability, slowest. Pure.
import { HEALTH_STATES } from '../../harness/contract/health-report.js';
import type { ReportModel } from '../model.js';
import { formatBytes, formatCount, formatPercent, formatSeconds, MISSING } from '../quantity.js';
import { inert, table } from '../render/markdown-text.js';
import { processName } from './growth-figure.js';
import { errorsCaption, fdsText, growthVerdict, healthFacts, scoreText, slopeText } from './health-words.js';

const TOP = 10;
const MAX_PROCESSES = 20;
const MAX_KINDS = 50;

/** Empty for a run without health.json. */
export function healthMarkdown({ health, healthProblem }: ReportModel): string {
  if (health === undefined) return healthProblem === undefined ? '' : inert(healthProblem);
  const states = HEALTH_STATES.filter((state) => (health.state_counts[state] ?? 0) > 0)
    .map((state) => `${formatCount(health.state_counts[state])} ${state.replace('-', ' ')}`)
    .join(', ');
  const facts = healthFacts(health).map(([name, fact]) => `- ${inert(name)}: ${inert(fact)}`);
  const errors = table(
    [
      ['share', 'right'],
      ['errors', 'right'],
      ['error', 'left'],
      ['kinds', 'left'],
      ['envs', 'right'],
    ],
    health.errors.top
      .slice(0, TOP)
      .map((kind) => [
        formatPercent(kind.share),
        formatCount(kind.count),
        inert(kind.exemplar.message, 120),
        inert(Object.keys(kind.entries).join(', '), 80),
        formatCount(kind.envs),
      ]),
  );
  const growth = table(
    [
      ['process', 'left'],
      ['RSS', 'right'],
      ['slope of RSS (95 %)', 'right'],
      ['memory', 'left'],
      ['open files', 'right'],
    ],
    health.growth
      .slice(0, MAX_PROCESSES)
      .map((record) => [
        processName(record),
        formatBytes(record.rss_bytes.last),
        slopeText(record.rss_slope_per_h),
        growthVerdict(record.rss_slope_per_h),
        fdsText(record),
      ]),
  );
  const stability = table(
    [
      ['kind', 'left'],
      ['envs', 'right'],
      ['stability', 'right'],
      ['worst env', 'right'],
      ['envs below 0.99', 'right'],
    ],
    health.stability
      .slice(0, MAX_KINDS)
      .map((kind) => [
        inert(kind.entry, 80),
        formatCount(kind.envs),
        scoreText(kind.score),
        kind.worst_env_id === null ? MISSING : `${scoreText(kind.worst)} (env ${kind.worst_env_id})`,
        formatCount(kind.below_99),
      ]),
  );
  const slow = health.slowest
    .slice(0, 5)
    .map(({ env_id, entry, relative }) => `env ${env_id} (${inert(entry, 40)}) ${formatPercent(relative)}`);
  return [
    `At the end: ${states === '' ? 'no environment' : states}.`,
    ...(health.final ? [] : ['The run was not stopped in order: this is at most a minute before its end.']),
    facts.join('\n'),
    ...(health.errors.top.length === 0 ? [] : [errors, `${errorsCaption(health, TOP)}.`]),
    ...(health.growth.length === 0 ? [] : [growth]),
    ...(health.stability.length === 0 ? [] : [stability]),
    ...(slow.length === 0
      ? []
      : [`Slowest against the median of their kind, in the last ${formatSeconds(health.slowest_over_s)}: ${slow.join(', ')}.`]),
  ].join('\n\n');
}
