// Tables of the page: a row of headings, rows of cells, scrolling sideways inside their own box so that the page never does.
import { escapeHtml } from './escape-html.js';

export interface Column {
  readonly heading: string;
  /** Small second line of the heading. */
  readonly unit?: string;
  /** `number` right-aligned, `text` left-aligned, `wide` left-aligned and wrapping. */
  readonly align?: 'number' | 'text' | 'wide';
}

/** A cell's text, or its HTML where the caller built some from escaped parts. */
export type Cell = string | { readonly html: string; readonly className?: string };

const CLASSES = { number: '', text: 'text', wide: 'text wide' } as const;

function attribute(classes: string): string {
  return classes.trim() === '' ? '' : ` class="${classes.trim()}"`;
}

/** The first cell of each row is its heading. `caption` is read out by screen readers only through aria-label. */
export function renderTable(caption: string, columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const head = columns
    .map(
      ({ heading, unit, align = 'number' }) =>
        `<th scope="col"${attribute(CLASSES[align])}>${escapeHtml(heading)}${unit === undefined ? '' : `<small>${escapeHtml(unit)}</small>`}</th>`,
    )
    .join('');
  const body = rows
    .map((row) => {
      const cells = row.map((cell, i) => {
        const align = CLASSES[columns[i]?.align ?? 'number'];
        const html = typeof cell === 'string' ? escapeHtml(cell) : cell.html;
        const classes = attribute(`${align} ${typeof cell === 'string' ? '' : (cell.className ?? '')}`);
        return i === 0 ? `<th scope="row"${classes}>${html}</th>` : `<td${classes}>${html}</td>`;
      });
      return `<tr>${cells.join('')}</tr>`;
    })
    .join('\n');
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(caption)}"><table aria-label="${escapeHtml(caption)}"><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table></div>`;
}
