// A history for the terminal: one table per file, then what changed. Pure.
import { textColumns } from '../compare/text-columns.js';
import { wrapText } from '../compare/wrap-text.js';
import { formatCount, formatInstant, oneLine } from '../quantity.js';
import type { History } from './history-folder.js';
import { changeLines, HISTORY_COLUMNS, HISTORY_METHOD, historyRow } from './history-text.js';
import { seriesOf } from './series.js';

const PROSE_WIDTH = 100;

function headOf({ entries, skippedLines }: History): string[] {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return ['no run in this file'];
  const invalid = entries.filter((entry) => entry.verdict === 'invalid').length;
  return [
    `plan ${oneLine(first.plan, 80)}, config ${oneLine(first.config_hash, 20)}; ${oneLine(first.machine_class, 160)}`,
    `${formatCount(entries.length)} runs, ${formatInstant(oneLine(first.at, 40))} to ${formatInstant(oneLine(last.at, 40))}${invalid > 0 ? `, ${invalid} invalid (not counted)` : ''}${skippedLines > 0 ? `, ${skippedLines} unreadable lines skipped` : ''}`,
  ];
}

/** Lines separated by newlines, none at the end. */
export function renderHistoryTerminal(histories: readonly History[]): string {
  const sections = histories.map((history) => {
    const series = seriesOf(history.entries);
    const changes = changeLines(series).flatMap((text) => wrapText(`* ${oneLine(text, 4_000)}`, PROSE_WIDTH));
    return [
      ...headOf(history),
      '',
      ...textColumns(
        HISTORY_COLUMNS,
        series.map((each) => historyRow(each).map((cell) => oneLine(cell, 80))),
      ),
      '',
      ...(changes.length === 0 ? ['no change of level found'] : changes),
      '',
    ];
  });
  const lines = [...sections.flat(), ...wrapText(HISTORY_METHOD, PROSE_WIDTH)];
  return lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}
