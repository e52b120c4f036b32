// Text from outside, made fit for one line on a page: cut, without control characters or marks that turn the reading direction. Pure.

/** C0, DEL, C1, zero width and bidirectional marks, line and paragraph separators, lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** At most `maxChars` characters. */
export function visibleText(text: string, maxChars: number): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
  return cut.replace(UNSEEN, (mark) => (/[\s]/.test(mark) ? ' ' : '�'));
}
