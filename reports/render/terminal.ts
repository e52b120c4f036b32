// The summary at the end of a run: what a person reads first. Fits the width it is given by leaving out the columns that matter least;
// colour only where asked for. Pure.
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import { oneLine } from '../quantity.js';
import { headline, invalidTiers, stateText } from '../stats/headline.js';
import { missedObjectives, missedText, objectivesText, SLO_WORDS } from '../stats/objectives.js';
import { showFirst } from '../stats/shown.js';
import { ladderColumns } from './ladder-columns.js';

export interface TerminalOptions {
  /** Characters per line; default 100. */
  readonly width?: number;
  readonly colour?: boolean;
}

/** Items of one list; the page has more. */
const MAX_ITEMS = 20;
const GAP = 2;
const INDENT = 2;
const CODES = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;

/** Columns of the terminal that stand for `text`; every character the reports print is one wide, labels from outside may be two. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text)
    width += /\p{M}/u.test(letter)
      ? 0
      : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u.test(
            letter,
          )
        ? 2
        : 1;
  return width;
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const fill = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'left' ? text + fill : fill + text;
}

function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width - indent.length) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(indent + line);
  return lines;
}

interface Cells {
  readonly heading: string;
  readonly cells: readonly string[];
  readonly width: number;
  readonly rank: number;
}

function chooseColumns(tiers: readonly TierResult[], width: number): Cells[] {
  const columns = ladderColumns(tiers).map(({ heading, cell, rank }) => {
    const cells = tiers.map(cell);
    return { heading, cells, rank, width: Math.max(...[heading, ...cells].map(widthOf)) };
  });
  const room = (kept: readonly Cells[]) => kept.reduce((sum, column) => sum + column.width + GAP, 0);
  let kept = columns;
  while (kept.length > 1 && room(kept) > width) {
    const least = Math.max(...kept.map((column) => column.rank));
    kept = kept.filter((column) => column.rank !== least);
  }
  return kept;
}

/** The whole summary, lines separated by newlines, none at the end. */
export function renderTerminal(record: RunRecord, options: TerminalOptions = {}): string {
  const width = Math.max(40, options.width ?? 100);
  const paint = (text: string, ...styles: (keyof typeof CODES)[]) =>
    options.colour === true ? `\u001b[${styles.map((style) => CODES[style]).join(';')}m${text}\u001b[0m` : text;
  const indent = ' '.repeat(INDENT);
  const lines: string[] = [''];

  if (record.tiers.length > 0) {
    const labels = record.tiers.map((tier) => oneLine(tier.label, 16));
    const verdicts = record.tiers.map((tier) => tier.validity.verdict);
    const labelWidth = Math.max(4, ...labels.map(widthOf));
    const columns = chooseColumns(record.tiers, width - INDENT - labelWidth - GAP - 'invalid'.length);
    const row = (label: string, cell: (column: Cells) => string) =>
      `${indent}${pad(label, labelWidth, 'left')}${columns.map((column) => ' '.repeat(GAP) + pad(cell(column), column.width, 'right')).join('')}${' '.repeat(GAP)}`;
    lines.push(paint(row('tier', (column) => column.heading).trimEnd(), 'dim'));
    labels.forEach((label, i) => {
      const verdict = verdicts[i] ?? 'invalid';
      lines.push(row(label, (column) => column.cells[i] ?? '') + paint(verdict, verdict === 'valid' ? 'green' : 'red'));
    });
    const shown = new Set(columns.map((column) => column.heading));
    const notes = [
      shown.has('sampling') || shown.has('training') ? 'sampling, training, goodput: steps/s over the measured time' : '',
      shown.has('p50') || shown.has('p99') ? 'p50, p99: action stored to frame published' : '',
    ];
    const note = notes.filter((text) => text !== '').join('; ');
    if (note !== '') lines.push('', ...wrap(note, width, indent).map((line) => paint(line, 'dim')));
    lines.push('');
  }

  const valid = record.verdict === 'valid';
  const state = record.run.state === 'finished' ? '' : ` (${stateText(record)})`;
  lines.push(`${indent}${paint(valid ? 'VALID' : 'INVALID', 'bold', valid ? 'green' : 'red')}${state}`);
  lines.push(...wrap(headline(record), width, indent));
  const item = (mark: string, text: string, advice: string) => {
    const wrapped = wrap(text, width, `${indent}${indent}`);
    lines.push(...wrapped.map((line, i) => (i === 0 ? `${indent}${mark} ${line.trimStart()}` : line)));
    if (advice !== '') lines.push(...wrap(oneLine(advice), width, `${indent}${indent}`).map((line) => paint(line, 'dim')));
  };
  const reasons = showFirst(reasonsOf(record), 'reasons', MAX_ITEMS);
  for (const [place, { message, advice }] of reasons.items) {
    lines.push('');
    item(paint('x', 'red'), `${place}${oneLine(message)}`, advice);
  }
  const slos = objectivesText(record);
  const missed = showFirst(missedObjectives(record), 'missed objectives', MAX_ITEMS);
  if (slos !== '') {
    const met = record.slo_verdict === 'met';
    lines.push('', `${indent}${paint(SLO_WORDS[record.slo_verdict], 'bold', met ? 'green' : 'yellow')}`);
    lines.push(...wrap(`${slos}.`, width, indent));
    for (const [tier, slo] of missed.items) item(paint('x', 'yellow'), oneLine(`tier ${tier.label}: ${missedText(slo)}`), '');
  }
  const warnings = showFirst(record.warnings, 'warnings', MAX_ITEMS);
  for (const { message, advice } of warnings.items) {
    lines.push('');
    item(paint('!', 'yellow'), oneLine(message), advice);
  }
  for (const { rest } of [reasons, missed, warnings]) if (rest !== '') lines.push('', ...wrap(`${rest}.`, width, indent));
  return lines.join('\n');
}

type Reason = RunRecord['validity']['reasons'][number];

/** Reasons of the run, then those of its tiers that the run does not repeat. */
export function reasonsOf(record: RunRecord): (readonly [place: string, reason: Reason])[] {
  const own = record.validity.reasons.map((reason) => ['', reason] as const);
  const said = new Set(record.validity.reasons.map((reason) => reason.message));
  const tiers = invalidTiers(record).flatMap((tier) =>
    tier.validity.reasons
      .filter((reason) => !said.has(reason.message))
      .map((reason) => [`tier ${oneLine(tier.label, 40)}: `, reason] as const),
  );
  return [...own, ...tiers];
}
