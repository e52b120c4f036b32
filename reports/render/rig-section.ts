// The rig of a run in its report: which stack config the host was stood up from, what was found there, and what each slice used per tier and
// over the whole run. Only in reports of runs on a rig. HTML and Markdown from the same rows. Pure.
import type { RunRecord } from '../../harness/contract/run-record.js';
import { formatBytes, formatCount, formatSeconds, oneLine } from '../quantity.js';
import { showFirst } from '../stats/shown.js';
import { escapeHtml } from './escape-html.js';
import { renderTable } from './html-table.js';
import { inert, table } from './markdown-text.js';

const HEADINGS = [
  ['over', 'text', ''],
  ['slice', 'text', ''],
  ['CPU time', 'number', ''],
  ['in the kernel', 'number', ''],
  ['held back', 'number', 'by a quota'],
  ['memory', 'number', 'at its end'],
  ['memory peak', 'number', 'since the slice was made'],
  ['killed', 'number', 'for memory'],
] as const;

const NOTE =
  'CPU time of a tier is that of its measured time. Shared memory of the segments is charged to the slice of the workers, which made it';

interface RigText {
  readonly facts: readonly (readonly [string, string])[];
  readonly rows: readonly (readonly string[])[];
  readonly rest: string;
}

/** Null for a run that was on no rig. */
function rigText({ rig, tiers }: RunRecord): RigText | null {
  if (rig === null) return null;
  const shown = showFirst(
    [
      ...tiers.map(({ label, slices }) => ({ over: `tier ${oneLine(label, 40)}`, slices })),
      { over: 'the whole run', slices: rig.slices },
    ].flatMap(({ over, slices }) => Object.entries(slices ?? {}).map(([name, use]) => ({ over, name, use }))),
    'rows',
  );
  return {
    facts: [
      ['stack config', rig.config_hash ?? 'not known to whoever started the run'],
      ...Object.entries(rig.facts).map(([name, value]) => [name.replaceAll('_', ' '), oneLine(String(value), 200)] as const),
    ],
    rows: shown.items.map(({ over, name, use }) => [
      over,
      oneLine(name, 40),
      formatSeconds(use.cpu_s),
      formatSeconds(use.cpu_system_s),
      formatSeconds(use.throttled_s),
      formatBytes(use.memory_bytes),
      formatBytes(use.memory_peak_bytes),
      formatCount(use.oom_kills),
    ]),
    rest: shown.rest,
  };
}

/** Empty without a rig. */
export function rigHtml(record: RunRecord): string {
  const text = rigText(record);
  if (text === null) return '';
  const facts = text.facts.map(([name, fact]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(fact)}</dd></div>`).join('');
  const columns = HEADINGS.map(([heading, align, unit]) => ({ heading, align, ...(unit === '' ? {} : { unit }) }));
  const uses =
    text.rows.length === 0
      ? '<p class="empty">The use of the slices was not read.</p>'
      : `${renderTable('Use of the slices', columns, text.rows)}<p class="note">${escapeHtml([NOTE, ...(text.rest === '' ? [] : [text.rest])].join('. '))}.</p>`;
  return `<dl class="facts">${facts}</dl><div class="gap"></div>${uses}`;
}

/** Empty without a rig. */
export function rigMarkdown(record: RunRecord): string {
  const text = rigText(record);
  if (text === null) return '';
  const facts = text.facts.map(([name, fact]) => `- ${inert(name)}: ${inert(fact)}`).join('\n');
  if (text.rows.length === 0) return `${facts}\n\nThe use of the slices was not read.`;
  const headings = HEADINGS.map(([heading, align]) => [heading, align === 'text' ? 'left' : 'right'] as const);
  return `${facts}\n\n${table(
    headings,
    text.rows.map((row) => row.map((cell) => inert(cell))),
  )}\n\n${NOTE}.${text.rest === '' ? '' : ` ${text.rest}.`}`;
}
