// Text into HTML. Everything that comes from outside (kind names, labels, errors, commands) passes through here exactly once.
import { oneLine } from '../quantity.js';

/** Safe as element content and inside double-quoted attributes. Control characters are made visible, line breaks become spaces. */
export function escapeHtml(text: string, maxChars = 2_000): string {
  return oneLine(text, maxChars).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&#39;');
}
