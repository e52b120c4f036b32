// Text into HTML. Everything that comes from outside (kind names, labels, errors, commands) passes through here exactly once.
import { oneLine } from '../quantity.js';

/** Safe as element content and inside double-quoted attributes. Control characters are made visible, line breaks become spaces. */
export function escapeHtml(text: string, maxChars = 2_000): string {
  return escapeMarkup(oneLine(text, maxChars));
}

/** Several lines, for `pre`: indentation and line breaks stay. */
export function escapeLines(text: string): string {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `${/^ */.exec(line)?.[0] ?? ''}${escapeHtml(line)}`)
    .join('\n');
}

function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}
