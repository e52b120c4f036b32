// The side-by-side result as people read it: one table, a block of lines per row, envladder first; "envladder is" says how many times better
// it did, with its interval; a dash has its reason in the last column. Pure.
import { formatNumber, machineLine } from '../bench-table.js';
import type { PairedRatio } from './paired-ratio.js';
import type { EntryResult, PeerReport, RowResult } from './peer-result.js';

const HEAD = ['system', 'value', 'low .. high', 'unit', 'envladder is', '95 % interval', 'rounds', 'cores', 'foreign', 'PSS MB', 'note'];
/** Columns of numbers stand right. */
const RIGHT = new Set([1, 4, 6, 7, 8, 9]);
/** A fault's story is told in lines of this width. */
const STORY_WIDTH = 150;

/** Three digits: a ratio of medians knows no more. */
function times(value: number): string {
  return `${value >= 1000 ? Math.round(value).toLocaleString('en-US') : Number(value.toPrecision(3))}x`;
}

function intervalText({ interval, rounds }: PairedRatio): string {
  return interval === null ? `none of ${rounds}` : `${times(interval.low)} .. ${times(interval.high)}`;
}

function cells(entry: EntryResult, unit: string): string[] {
  const { value, low, high, runs, envladder_is: ratio, cores, foreign_cores: foreign, disturbed, pss_bytes: pss } = entry;
  const notes = [
    entry.reason ?? '',
    entry.note === entry.reason ? '' : entry.note,
    disturbed > 0 ? `${disturbed} of ${runs} rounds disturbed` : '',
  ];
  return [
    `  ${entry.label}`,
    value === null ? '-' : formatNumber(value),
    runs < 2 || low === null || high === null ? '' : `${formatNumber(low)} .. ${formatNumber(high)}`,
    value === null ? '' : unit,
    ratio === null ? '' : times(ratio.value),
    ratio === null ? '' : intervalText(ratio),
    runs === 0 ? '' : String(runs),
    cores === null ? '' : cores.toFixed(1),
    foreign === null ? '' : foreign.toFixed(2),
    pss === null ? '' : String(Math.round(pss / 1e6)),
    notes.filter((part) => part !== '').join('; '),
  ];
}

/** Words in lines of at most `width`. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function storyLines({ entries }: RowResult, labelWidth: number): string[] {
  return entries.flatMap((entry) => {
    const lines = wrap(entry.reason === null ? entry.note : `- ${entry.reason}`, STORY_WIDTH);
    return lines.map((line, index) => `${(index === 0 ? `  ${entry.label}` : '').padEnd(labelWidth)}  ${line}`);
  });
}

function versionsLine(report: PeerReport): string {
  const seen = new Map<string, Set<string>>();
  for (const { versions } of report.rows.flatMap(({ entries }) => entries)) {
    for (const [name, version] of Object.entries(versions)) seen.set(name, (seen.get(name) ?? new Set()).add(version));
  }
  return [...seen].map(([name, versions]) => `${name} ${[...versions].join(' and ')}`).join(', ');
}

/** The whole result as text, without a trailing newline. */
export function renderPeers(report: PeerReport): string {
  const figures = report.rows.filter(({ unit }) => unit !== '');
  const lines = figures.flatMap((row) => row.entries.map((entry) => cells(entry, row.unit)));
  const widths = HEAD.map((head, column) => Math.max(head.length, ...lines.map((line) => (line[column] ?? '').length)));
  const layout = (line: readonly string[]): string =>
    line
      .map((cell, column) =>
        RIGHT.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(column === HEAD.length - 1 ? 0 : (widths[column] ?? 0)),
      )
      .join('  ')
      .trimEnd();
  const blocks = figures.flatMap((row) => [
    '',
    `${row.name}: ${row.title} (${row.better} is better)`,
    ...row.entries.map((entry) => layout(cells(entry, row.unit))),
  ]);
  const stories = report.rows.filter(({ unit }) => unit === '');
  const labelWidth = Math.max(0, ...stories.flatMap(({ entries }) => entries.map(({ label }) => label.length + 2)));
  const faults = stories.flatMap((row) => ['', `${row.name}: ${row.title}`, ...storyLines(row, labelWidth)]);
  const quick = report.quick ? ['quick: shows that it runs, the figures mean little'] : [];
  const head = [machineLine(report.machine), versionsLine(report), `taken ${report.taken}`, ...quick].filter((line) => line !== '');
  const table = figures.length === 0 ? [] : ['', layout(HEAD), widths.map((width) => '-'.repeat(width)).join('  '), ...blocks];
  return [...head, ...table, ...faults].join('\n');
}
