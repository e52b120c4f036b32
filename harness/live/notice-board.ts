// What happened, as the page lists it: events that differ only in numbers (7,000 envs failing alike) are one line with a count. Bounded:
// the line unheard of for longest gives way. Text is cut and its control characters are made visible; escaping is the page's business.
import type { LiveEvent, LiveNotice } from './live-feed.js';
import { visibleText } from './visible-text.js';

export const MAX_NOTICES = 100;
export const MAX_NOTICE_CHARS = 400;

const NUMBERS = /-?\d+(\.\d+)?(e[-+]?\d+)?/gi;

export interface NoticeBoard {
  add(event: LiveEvent): void;
  /** Lines that changed after revision `revision`, newest last. */
  since(revision: number): readonly LiveNotice[];
  /** Rises with every event. */
  readonly revision: number;
  /** Events so far, by type. */
  readonly counts: ReadonlyMap<string, number>;
}

interface Line extends LiveNotice {
  readonly revision: number;
}

export function createNoticeBoard(limit = MAX_NOTICES): NoticeBoard {
  /** By what they have in common; insertion order is age. */
  const lines = new Map<string, Line>();
  const counts = new Map<string, number>();
  let revision = 0;
  let nextKey = 1;
  return {
    counts,
    get revision() {
      return revision;
    },
    add({ type, message, runSeconds }) {
      const text = visibleText(message, MAX_NOTICE_CHARS);
      const alike = `${type} ${text.replace(NUMBERS, '#')}`;
      const known = lines.get(alike);
      lines.delete(alike);
      lines.set(alike, {
        key: known?.key ?? nextKey++,
        type,
        message: text,
        count: (known?.count ?? 0) + 1,
        t: runSeconds,
        revision: ++revision,
      });
      counts.set(type, (counts.get(type) ?? 0) + 1);
      for (const oldest of lines.keys()) {
        if (lines.size <= limit) break;
        lines.delete(oldest);
      }
    },
    since: (from) => [...lines.values()].filter((line) => line.revision > from).map(({ revision: _, ...line }) => line),
  };
}
