// errors/top10.ndjson: every minute with new errors, and at the end, the ten most frequent kinds. An exemplar's stack is written the first time
// its kind shows up, later lines name it. Written by the supervisor only; a disk that refuses costs lines, never the run. Bounded by the budget.
import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Top10Line } from '../../contract/error-record.js';
import type { ErrorMerge } from './error-merge.js';
import type { LogBudget } from './log-budget.js';

export const REPORT_EVERY_S = 60;
const TOP = 10;
/** Fingerprints whose stack is known to be in the file. */
const MOST_TOLD = 1000;

export interface ErrorJournal {
  /** Call often; writes when a minute is over. */
  tick(runS: number): void;
  /** Writes what is new since the last line. Resolves when everything is on the disk, or was refused. */
  close(runS: number): Promise<void>;
  readonly failedWrites: number;
}

export interface ErrorJournalOptions {
  readonly path: string;
  readonly errors: ErrorMerge;
  readonly budget: LogBudget;
  /** Said once, when the disk refuses for the first time. */
  readonly onProblem: (message: string) => void;
  /** Tests inject a disk that refuses. */
  readonly append?: (path: string, text: string) => Promise<void>;
}

async function appendToFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await appendFile(path, text, { mode: 0o600 });
}

export function createErrorJournal({ path, errors, budget, onProblem, append = appendToFile }: ErrorJournalOptions): ErrorJournal {
  const told = new Set<string>();
  let lastS = 0;
  let lastTotal = 0;
  let failedWrites = 0;
  let writing: Promise<void> = Promise.resolve();

  function lineNow(runS: number): Top10Line {
    const { total, distinct, lost, unlisted } = errors.counts();
    const top = errors.top(TOP).map((kind) => {
      return told.has(kind.fingerprint) ? { ...kind, exemplar: { ...kind.exemplar, stack: '' } } : kind;
    });
    return { run_s: Math.round(runS * 1000) / 1000, errors: total, distinct, lost: lost + unlisted, top };
  }

  function write(runS: number, lastWords: boolean): void {
    lastS = runS;
    const { total } = errors.counts();
    if (total === lastTotal) return;
    const line = lineNow(runS);
    const text = `${JSON.stringify(line)}\n`;
    if (!budget.take(Buffer.byteLength(text), lastWords)) return;
    lastTotal = total;
    for (const { fingerprint } of line.top) if (told.size < MOST_TOLD) told.add(fingerprint);
    writing = writing.then(() =>
      append(path, text).catch((error: unknown) => {
        if (failedWrites++ === 0) {
          const errno = (error as NodeJS.ErrnoException).code ?? String(error);
          onProblem(`${path} could not be written (${errno}); errors are still counted, the run goes on`);
        }
      }),
    );
  }

  return {
    tick(runS) {
      if (runS - lastS >= REPORT_EVERY_S) write(runS, false);
    },
    async close(runS) {
      write(runS, true);
      await writing;
    },
    get failedWrites() {
      return failedWrites;
    },
  };
}
