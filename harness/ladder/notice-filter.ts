// Which lifecycle events a person hears of at once, and how many: deaths, warnings, the first few failing envs. Thousands of envs may
// break in one second; all of them are in events.sqlite, a terminal gets the first ones and a count.
import type { CrewEvent } from '../supervisor/crew.js';

const MAX_FAILURES_SHOWN = 5;
const MAX_WARNINGS_SHOWN = 50;

export interface NoticeFilter {
  hear(event: CrewEvent): void;
  /** Says how many were kept back. */
  close(): void;
}

/** One line: a child's last words can fill pages, and stand in the record. */
const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 400);

export function createNoticeFilter(tell: (message: string) => void): NoticeFilter {
  const say = (message: string): void => tell(firstLine(message));
  let failures = 0;
  let warnings = 0;
  return {
    hear(event) {
      switch (event.type) {
        case 'env-failed':
        case 'reset-failed':
          failures++;
          if (failures <= MAX_FAILURES_SHOWN) say(event.message);
          return;
        case 'worker-died':
        case 'worker-restarted':
        case 'range-lost':
        case 'learner-died':
        case 'warning':
          warnings++;
          if (warnings <= MAX_WARNINGS_SHOWN) say(event.message);
          return;
        default:
          return;
      }
    },
    close() {
      if (failures > MAX_FAILURES_SHOWN) say(`${failures - MAX_FAILURES_SHOWN} more env failures are in events.sqlite`);
      if (warnings > MAX_WARNINGS_SHOWN) say(`${warnings - MAX_WARNINGS_SHOWN} more warnings are in events.sqlite`);
    },
  };
}
