// A comparison as a pull-request comment: verdict first, then only the rows that changed; the rest, the method and the command are folded.
// Pure; everything from outside is inert.
import { formatCount, oneLine } from '../quantity.js';
import { type Align, code, inert, table } from '../render/markdown-text.js';
import type { Comparison, SideFacts } from './compare-sides.js';
import {
  byVerdict,
  intervalText,
  METHOD,
  metricText,
  openQuestions,
  pText,
  shareText,
  thresholdText,
  valueText,
  verdictSentence,
  warningLines,
} from './comparison-text.js';
import type { JudgedMetric } from './judge-metrics.js';

/** GitHub refuses comments beyond 65,536 characters; a row takes at most some 200. */
const MAX_ROWS = 120;

const HEADINGS: readonly (readonly [string, Align])[] = [
  ['metric', 'left'],
  ['base', 'right'],
  ['candidate', 'right'],
  ['shift', 'right'],
  ['95 % interval', 'right'],
  ['p', 'right'],
  ['must lie beyond', 'right'],
  ['verdict', 'left'],
];

function rowsOf(metrics: readonly JudgedMetric[]): string {
  const shown = byVerdict(metrics).slice(0, MAX_ROWS);
  const rows = shown.map((metric) => [
    inert(metricText(metric.key), 80),
    valueText(metric.base, metric.key.unit),
    valueText(metric.candidate, metric.key.unit),
    shareText(metric.shift),
    intervalText(metric),
    inert(pText(metric.pAdjusted)),
    thresholdText(metric),
    metric.verdict === 'regressed' || metric.verdict === 'missing' ? `**${metric.verdict}**` : metric.verdict,
  ]);
  const more = metrics.length - shown.length;
  return `${table(HEADINGS, rows)}${more > 0 ? `\n\nand ${formatCount(more)} more rows (all are in the JSON output)` : ''}`;
}

function folded(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`;
}

function sideText(side: SideFacts): string {
  const commits = side.commits.map((commit) => code(commit.slice(0, 12))).join(', ');
  return `${code(oneLine(side.name, 120))} (${side.validRuns} of ${side.runs.length} runs valid${commits === '' ? '' : `, commit ${commits}`})`;
}

function reproduce(commands: readonly string[]): string {
  const lines = commands.map((command) => oneLine(command, 2_000).replace(/`{3,}/g, (run) => run.replace(/`/g, '\u02cb')));
  return ['```sh', ...lines, '```'].join('\n');
}

/** The whole comment, ending in a newline. */
export function renderComparisonMarkdown(comparison: Comparison): string {
  const changed = comparison.metrics.filter(({ verdict }) => verdict !== 'unchanged' && verdict !== 'insufficient-data');
  const quiet = comparison.metrics.filter((metric) => !changed.includes(metric));
  const { machineClass, plan, configHash } = comparison.identity;
  const parts = [
    `### envladder: ${comparison.verdict === 'pass' ? 'no regression' : comparison.verdict.toUpperCase()}`,
    `**${comparison.verdict === 'pass' ? 'Pass' : comparison.verdict === 'regressed' ? 'Regressed' : 'Invalid'}**: ${inert(verdictSentence(comparison), 2_000)}`,
    ...comparison.invalidRuns
      .slice(0, 20)
      .map(({ side, run, reason }) => `- ${side} run ${code(oneLine(run, 80))} is invalid: ${inert(reason)}`),
    ...comparison.overridden.map(
      ({ what, values }) => `- **Compared anyway**: ${inert(what)} differs: ${values.map((value) => inert(value)).join(' and ')}`,
    ),
    ...(changed.length > 0 ? [rowsOf(changed)] : []),
    ...[...openQuestions(comparison), ...warningLines(comparison)].map((line) => `- ${inert(line, 1_000)}`),
    ...(quiet.length > 0 ? [folded(`${formatCount(quiet.length)} metrics unchanged or not judged`, rowsOf(quiet))] : []),
    folded(
      'What was compared, and how',
      [
        `- base: ${sideText(comparison.base)}`,
        `- candidate: ${sideText(comparison.candidate)}`,
        `- machine class: ${inert(machineClass)}; plan ${code(oneLine(plan, 80))}, config ${code(configHash)}`,
        ...comparison.notes.map(({ what, values }) => `- ${inert(what)} differs: ${values.map((value) => inert(value)).join(' and ')}`),
        `- method: ${inert(METHOD, 2_000)}; alpha ${comparison.alpha}, seed ${comparison.seed}`,
      ].join('\n'),
    ),
    ...(comparison.reproduce.length > 0 ? [folded('Reproduce', reproduce(comparison.reproduce))] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}
