// A tool's view of the stability scores: a hint makes it quick, polling the version makes it right. A reader that missed the hint, or whose
// hint connection was thrown out, has the newest scores one poll later.
import type { Scores, StateStore } from './state-store.js';

const POLL_MS = 5_000;

/** Tells `listener` the scores once at the start (if there are any) and whenever their version changes. The returned function ends it. */
export function watchScores(store: StateStore, listener: (scores: Scores) => void, pollMs = POLL_MS): () => void {
  let seen = 0;
  let busy = false;
  let again = false;
  let ended = false;
  const look = async (): Promise<void> => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      if ((await store.scoresVersion()) !== seen) {
        const scores = await store.readScores();
        // Any other version, not only a higher one: a wiped store may begin anew.
        if (scores !== null && scores.version !== seen && !ended) {
          seen = scores.version;
          listener(scores);
        }
      }
    } catch {
      // Unreachable: the next poll asks again.
    } finally {
      busy = false;
    }
    if (again && !ended) {
      again = false;
      void look();
    }
  };
  const unhint = store.onScoresHint((version) => {
    if (version !== seen) void look();
  });
  const timer = setInterval(() => void look(), pollMs);
  void look();
  return () => {
    ended = true;
    clearInterval(timer);
    unhint();
  };
}
