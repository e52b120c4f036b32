// The result as people read it: the machine, then one line per row with the range of its windows, the foreign load beside it and
// whether it reaches its bar.
import type { MachineFacts } from '../contract/run-record.js';
import { meetsBar, ROWS, type RowSpec } from './bars.js';
import type { Row } from './bench.js';

/** Four significant digits, thousands separated: 3,412,000 · 41.27 · 0.5312. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  if (size >= 1000) return Math.round(rounded).toLocaleString('en-US');
  return String(rounded);
}

function barText({ bar, better }: RowSpec): string {
  return bar === null ? '' : `${better === 'higher' ? '>=' : '<='} ${formatNumber(bar)}`;
}

function verdictText(row: Row): string {
  if (row.estimate === null) return 'not run';
  const meets = meetsBar(row.name, row.estimate.value);
  return meets === null ? '' : meets ? 'yes' : 'NO';
}

function cells(row: Row): string[] {
  const spec: RowSpec = ROWS[row.name];
  const e = row.estimate;
  return [
    row.name,
    e === null ? '-' : formatNumber(e.value),
    e === null || e.runs < 2 ? '' : `${formatNumber(e.low)} .. ${formatNumber(e.high)}`,
    spec.unit,
    e === null ? '' : String(e.runs),
    barText(spec),
    verdictText(row),
    row.foreignCores === null ? '' : row.foreignCores.toFixed(2),
    row.note,
  ];
}

const HEAD = ['name', 'value', 'low .. high', 'unit', 'runs', 'bar', 'meets', 'foreign', 'note'];
/** Columns of numbers stand right. */
const RIGHT = new Set([1, 2, 4, 5, 7]);

/** The machine in one line. */
export function machineLine(machine: MachineFacts): string {
  const gib = (machine.memory_bytes / 2 ** 30).toFixed(1);
  return `${machine.cores} x ${machine.cpu_model}, ${gib} GiB, ${machine.os}, Linux ${machine.kernel}, Node ${machine.node}`;
}

/** The whole table as text, without a trailing newline. */
export function renderTable(machine: MachineFacts, rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => (RIGHT.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [machineLine(machine), '', text[0], widths.map((width) => '-'.repeat(width)).join('  '), ...text.slice(1)].join('\n');
}
