// A comparison for the terminal: every metric, what says most first, then the verdict. Pure.
import { oneLine } from '../quantity.js';
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
import type { MetricVerdict } from './judge-metrics.js';
import { textColumns } from './text-columns.js';
import { wrapText } from './wrap-text.js';

/** Of prose; the table takes what it needs. */
const PROSE_WIDTH = 100;

const COLOURS: Readonly<Record<MetricVerdict | Comparison['verdict'], string>> = {
  regressed: '31',
  missing: '31',
  invalid: '31',
  'inconclusive-noisy': '33',
  'insufficient-data': '33',
  improved: '32',
  pass: '32',
  new: '32',
  unchanged: '2',
};

const COLUMNS = [
  { heading: 'metric', align: 'left' },
  { heading: 'base', align: 'right' },
  { heading: 'candidate', align: 'right' },
  { heading: 'shift', align: 'right' },
  { heading: '95 % interval', align: 'right' },
  { heading: 'p', align: 'right' },
  { heading: 'beyond', align: 'right' },
  { heading: 'verdict', align: 'left' },
] as const;

function sideLine(label: string, side: SideFacts): string {
  const commits = side.commits.map((commit) => commit.slice(0, 12)).join(', ');
  const runs = `${side.runs.length} run${side.runs.length === 1 ? '' : 's'}`;
  return `${label.padEnd(10)} ${oneLine(side.name, 120)}: ${runs}${side.validRuns === side.runs.length ? '' : `, ${side.validRuns} valid`}${commits === '' ? '' : `, commit ${oneLine(commits, 120)}`}`;
}

/** Lines separated by newlines, none at the end. */
export function renderComparisonTerminal(comparison: Comparison, colour = false): string {
  const paint = (text: string, code: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const metrics = byVerdict(comparison.metrics);
  const [head = '', ...rows] = textColumns(
    COLUMNS,
    metrics.map((metric) => [
      metricText(metric.key),
      valueText(metric.base, metric.key.unit),
      valueText(metric.candidate, metric.key.unit),
      shareText(metric.shift),
      intervalText(metric),
      pText(metric.pAdjusted),
      thresholdText(metric),
      metric.verdict,
    ]),
  );
  const { machineClass, plan, configHash } = comparison.identity;
  const differences = [
    ...comparison.overridden.map(({ what, values }) => `compared anyway: ${what} differs: ${oneLine(values.join(' | '))}`),
    ...comparison.notes.map(({ what, values }) => `note: ${oneLine(what, 80)} differs: ${oneLine(values.join(' | '))}`),
  ];
  const lines = [
    sideLine('base', comparison.base),
    sideLine('candidate', comparison.candidate),
    `${oneLine(machineClass)}; plan ${oneLine(plan, 80)}, config ${configHash}; seed ${comparison.seed}`,
    ...differences,
    '',
    paint(head, '2'),
    ...rows.map((row, i) => {
      const verdict = metrics[i]?.verdict ?? 'unchanged';
      return row.slice(0, row.length - verdict.length) + paint(verdict, COLOURS[verdict]);
    }),
    '',
    ...wrapText(METHOD, PROSE_WIDTH).map((line) => paint(line, '2')),
    '',
    paint(comparison.verdict.toUpperCase(), `1;${COLOURS[comparison.verdict]}`),
    ...wrapText(verdictSentence(comparison), PROSE_WIDTH),
    ...comparison.invalidRuns.map(({ side, run, reason }) => `x ${side} run ${oneLine(run, 80)} is invalid: ${oneLine(reason)}`),
    ...[...openQuestions(comparison), ...warningLines(comparison)].flatMap((line) => wrapText(oneLine(line, 1_000), PROSE_WIDTH)),
    ...(comparison.reproduce.length > 0
      ? ['', 'reproduce:', ...comparison.reproduce.map((command) => `  ${oneLine(command, 2_000)}`)]
      : []),
  ];
  return lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}
