// The tables of the health section: errors by kind, growth, slowest envs, stability, longest gaps. Each returns escaped HTML, or nothing.
import type { HealthReport } from '../../harness/contract/health-report.js';
import { formatBytes, formatCount, formatPercent, formatSeconds, MISSING, oneLine } from '../quantity.js';
import { escapeHtml, escapeLines } from '../render/escape-html.js';
import { type Cell, renderTable } from '../render/html-table.js';
import { processName } from './growth-figure.js';
import type { HealthIndex } from './health-index.js';
import { errorsCaption, fdsText, growthVerdict, scoreText, slopeText } from './health-words.js';

const TOP_ERRORS = 10;
const MAX_PROCESSES = 40;
const MAX_GAPS = 10;
const MAX_STACK_CHARS = 3000;

const note = (text: string) => `<p class="note">${escapeHtml(text)}.</p>`;
const titled = (title: string, body: string) => `<h3 class="sub">${escapeHtml(title)}</h3>${body}`;

export function errorsTable(health: HealthReport, index: HealthIndex): string {
  const { top } = health.errors;
  if (top.length === 0) return '';
  const rows = top.slice(0, TOP_ERRORS).map((kind): Cell[] => {
    const { message, stack, operation, env_id } = kind.exemplar;
    const entries = Object.entries(kind.entries)
      .slice(0, 6)
      .map(([entry, times]) => `${entry === '' ? 'no env' : oneLine(entry, 40)} (${formatCount(times)})`)
      .join(', ');
    const where = `${escapeHtml(operation, 20)}${env_id < 0 ? '' : ` of ${index.link(env_id)}`}`;
    const ids = kind.env_ids.map((env) => index.link(env)).join(', ');
    return [
      formatPercent(kind.share),
      formatCount(kind.count),
      {
        html: `<details><summary>${escapeHtml(message, 160)}</summary><p>${where}; envs: ${ids === '' ? MISSING : ids}</p><pre>${escapeLines(stack.slice(0, MAX_STACK_CHARS) || message)}</pre><p><code>${escapeHtml(kind.fingerprint, 32)}</code></p></details>`,
      },
      entries,
      formatCount(kind.envs),
      `${formatSeconds(kind.first_s)} to ${formatSeconds(kind.last_s)}`,
    ];
  });
  const table = renderTable(
    'Errors by kind',
    [
      { heading: 'share', unit: 'of all errors' },
      { heading: 'errors' },
      { heading: 'error', unit: 'open for its exemplar', align: 'wide' },
      { heading: 'kinds', unit: 'errors of each', align: 'text' },
      { heading: 'envs' },
      { heading: 'first and last' },
    ],
    rows,
  );
  return titled(
    'Errors',
    `${table}${note(`${errorsCaption(health, TOP_ERRORS)}. Same kind: same message and frames once numbers, quoted values, folders and line numbers are taken out`)}`,
  );
}

export function growthTable({ growth }: HealthReport): string {
  if (growth.length === 0) return '';
  // The ones that surely grow first, then by slope.
  const order = [...growth].sort((a, b) => (b.rss_slope_per_h?.low ?? -Infinity) - (a.rss_slope_per_h?.low ?? -Infinity));
  const rows = order.slice(0, MAX_PROCESSES).map((record): Cell[] => {
    const verdict = growthVerdict(record.rss_slope_per_h);
    return [
      processName(record),
      formatSeconds(record.seconds),
      formatCount(record.lives),
      formatBytes(record.rss_bytes.last),
      formatBytes(record.rss_bytes.max),
      slopeText(record.rss_slope_per_h),
      verdict === 'grows' ? { html: '<span class="pill missed">grows</span>' } : { html: escapeHtml(verdict), className: 'quiet' },
      fdsText(record),
      `${formatCount(record.loop_lag_ms_max)} ms`,
    ];
  });
  const table = renderTable(
    'Growth by process',
    [
      { heading: 'process', align: 'text' },
      { heading: 'observed', unit: 'present life' },
      { heading: 'lives' },
      { heading: 'RSS', unit: 'at the end' },
      { heading: 'RSS', unit: 'at most' },
      { heading: 'slope of RSS', unit: 'and its 95 % interval' },
      { heading: 'memory', align: 'text' },
      { heading: 'open files', unit: 'at the end' },
      { heading: 'loop lag', unit: 'at most' },
    ],
    rows,
  );
  const more = growth.length - MAX_PROCESSES;
  return `${table}${note(`Slopes by Theil and Sen over the present life without its first minute; a slope is one only when its interval leaves out 0${more > 0 ? `. ${formatCount(more)} more processes in health.json` : ''}`)}`;
}

export function slowestTable({ slowest, slowest_over_s }: HealthReport, index: HealthIndex): string {
  if (slowest.length === 0) return '';
  const rows = slowest
    .slice(0, 20)
    .map(({ env_id, entry, worker, frames, median, relative }): Cell[] => [
      { html: index.link(env_id) },
      oneLine(entry, 60),
      formatCount(worker),
      formatCount(frames),
      formatCount(median),
      formatPercent(relative),
    ]);
  const table = renderTable(
    'Slowest environments',
    [
      { heading: 'env', align: 'text' },
      { heading: 'kind', align: 'text' },
      { heading: 'worker' },
      { heading: 'frames' },
      { heading: 'median', unit: 'of its kind' },
      { heading: 'of the median' },
    ],
    rows,
  );
  return titled(
    'Slowest environments',
    `${table}${note(`Frames in the last ${formatSeconds(slowest_over_s)}, against the median of the same kind; envs out of the run are on the map, not here`)}`,
  );
}

export function stabilityTable({ stability }: HealthReport, index: HealthIndex): string {
  if (stability.length === 0) return '';
  const rows = stability
    .slice(0, 200)
    .map((kind): Cell[] => [
      oneLine(kind.entry, 80),
      formatCount(kind.envs),
      scoreText(kind.score),
      scoreText(kind.worst),
      kind.worst_env_id === null ? MISSING : { html: index.link(kind.worst_env_id) },
      formatCount(kind.below_99),
    ]);
  const table = renderTable(
    'Stability by kind',
    [
      { heading: 'kind', align: 'text' },
      { heading: 'envs' },
      { heading: 'stability', unit: '0 to 1' },
      { heading: 'worst env', unit: '0 to 1' },
      { heading: 'which', align: 'text' },
      { heading: 'envs below 0.99' },
    ],
    rows,
  );
  return titled(
    'Stability by kind',
    `${table}${note('Seconds live / seconds planned, from an env\u2019s first frame to the end of the run; slow, stale, quarantined and lost seconds are not live. It says nothing of returns')}`,
  );
}

export function gapsTable({ gaps }: HealthReport, index: HealthIndex): string {
  if (gaps.longest.length === 0) return '';
  const rows = gaps.longest
    .slice(0, MAX_GAPS)
    .map(({ env_id, from_s, seconds, state, open }): Cell[] => [
      { html: index.link(env_id) },
      formatSeconds(from_s),
      `${formatSeconds(seconds)}${open ? ', to the end' : ''}`,
      state.replace('-', ' '),
    ]);
  const table = renderTable(
    'Longest gaps',
    [{ heading: 'env', align: 'text' }, { heading: 'from', unit: 'run time' }, { heading: 'for' }, { heading: 'it was', align: 'text' }],
    rows,
  );
  return titled('Longest gaps', table);
}
