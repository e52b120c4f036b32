// How much of a list a page shows: a campaign of six days may have thousands of deaths, and a page must still open. What is left out is
// said with its number; run.json has all of it. Pure.
import { formatCount } from '../quantity.js';

/** Rows of a table or items of a list. */
export const MAX_ROWS = 200;
/** Tails of stderr, up to 8 KiB each. */
export const MAX_TAILS = 20;
/** Figures of one family, each some 10 KiB of SVG. */
export const MAX_FIGURES = 40;

export interface Shown<Item> {
  readonly items: readonly Item[];
  /** "1,800 more deaths in run.json"; empty when all are shown. */
  readonly rest: string;
}

/** The first `max` of `all`. */
export function showFirst<Item>(all: readonly Item[], what: string, max = MAX_ROWS): Shown<Item> {
  const more = all.length - max;
  return { items: all.slice(0, max), rest: more > 0 ? `${formatCount(more)} more ${what} in run.json` : '' };
}
