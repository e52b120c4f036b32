// history.html: every metric of every history over its runs, with its changes of level. One self-contained page without script; the same
// files give the same bytes. Pure.
import { formatCount, formatInstant } from '../quantity.js';
import { escapeHtml } from '../render/escape-html.js';
import { renderFigure } from '../render/figure.js';
import { renderTable } from '../render/html-table.js';
import { STYLE } from '../render/style.js';
import type { History } from './history-folder.js';
import { changeLines, HISTORY_COLUMNS, HISTORY_METHOD, historyRow } from './history-text.js';
import { levelFigure } from './level-figure.js';
import { type Series, seriesOf } from './series.js';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

function changesList(series: readonly Series[]): string {
  const changes = changeLines(series);
  return changes.length === 0
    ? '<p class="empty">No change of level found.</p>'
    : `<ul>${changes.map((text) => `<li>${escapeHtml(text, 4_000)}</li>`).join('')}</ul>`;
}

function section(history: History): string {
  const [first, last] = [history.entries[0], history.entries.at(-1)];
  if (first === undefined || last === undefined) return '';
  const series = seriesOf(history.entries);
  const figures = series.map(levelFigure).filter((figure) => figure !== undefined);
  const invalid = history.entries.filter((entry) => entry.verdict === 'invalid').length;
  const skipped = history.skippedLines === 0 ? '' : `; ${formatCount(history.skippedLines)} unreadable lines skipped`;
  return `<section><h2>${escapeHtml(first.plan, 80)} on ${escapeHtml(first.machine_class, 200)}</h2>
<p class="quiet">${formatCount(history.entries.length)} runs, ${formatCount(invalid)} invalid (hollow, not counted), ${escapeHtml(formatInstant(first.at))} to ${escapeHtml(formatInstant(last.at))}; configuration ${escapeHtml(first.config_hash)}${skipped}</p>
${changesList(series)}
${figures.length === 0 ? '<p class="empty">Nothing to draw yet: two runs that differ are needed.</p>' : `<div class="grid small">${figures.map(renderFigure).join('\n')}</div>`}
<div class="gap"></div>${renderTable(
    `Metrics of plan ${first.plan}`,
    HISTORY_COLUMNS.map(({ heading, align }) => ({ heading, align: align === 'left' ? ('text' as const) : ('number' as const) })),
    series.map(historyRow),
  )}</section>
`;
}

/** The whole page, ending in a newline. */
export function renderHistoryHtml(histories: readonly History[]): string {
  const body = histories.map(section).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>envladder history</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<header><h1>envladder</h1><p>history</p></header>
${body === '' ? '<p class="empty">No run has been added yet.</p>\n' : body}<footer>${escapeHtml(HISTORY_METHOD)}. Rendered from the files of this folder; rendering again gives the same bytes.</footer>
</main>
</body>
</html>
`;
}
