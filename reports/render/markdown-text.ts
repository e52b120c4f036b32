// Markdown from parts: text from outside that stays text, code spans, tables. For every page that is Markdown. Pure.
import { oneLine } from '../quantity.js';

/** Text from outside as inert Markdown: no markup, no table cell it could end, no HTML, nobody mentioned. */
export function inert(text: string, maxChars?: number): string {
  return oneLine(text, maxChars)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/@(?=\w)/g, '@\u200b')
    .replace(/[\\`*_{}[\]()#+!|~]/g, '\\$&');
}

/** A code span that its content cannot leave. */
export function code(text: string): string {
  const clean = oneLine(text, 2_000);
  const fence = '`'.repeat(Math.max(0, ...[...clean.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  const space = clean.startsWith('`') || clean.endsWith('`') ? ' ' : '';
  return `${fence}${space}${clean}${space}${fence}`;
}

export type Align = 'left' | 'right';

export function table(headings: readonly (readonly [string, Align])[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(headings.map(([heading]) => heading)),
    line(headings.map(([, align]) => (align === 'left' ? ':--' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}
