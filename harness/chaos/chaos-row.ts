// What the fault matrix is made of: a row breaks one thing on a rig of its own and says what was seen. Rows lie in rows/, one file per
// small family; run-matrix.ts runs them, chaos-report.ts writes what came of them. Numbers and outcomes are those of docs/chaos.md.

import type { Memory } from '../memory/interface.js';
import type { CrewSeams } from '../supervisor/raise-crew.js';

export const INVARIANTS = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8'] as const;
export type InvariantName = (typeof INVARIANTS)[number];

/** What each invariant promises, for reports. */
export const INVARIANT_TEXT: Readonly<Record<InvariantName, string>> = {
  I1: 'no torn, mixed, duplicate or stale-epoch frame trained',
  I2: 'one live writer per slot',
  I3: 'acknowledged lifecycle events survive any process death',
  I4: 'the newest committed checkpoint loads',
  I5: 'nothing leaks after stop',
  I6: 'untouched envs keep at least 90 % of their rate',
  I7: 'each fault leaves one typed event with its cause, and the sums balance',
  I8: 'restart budgets respected',
};

export interface Finding {
  /** Null: this row has nothing to judge it by. */
  readonly ok: boolean | null;
  /** What was counted, with numbers: it stands in the report, whatever the verdict. */
  readonly evidence: string;
}
export type Findings = Readonly<Partial<Record<InvariantName, Finding>>>;

export interface RowOutcome {
  /** From the fault to the first sign of it in the harness's own words; null when there is nothing to detect. */
  readonly detectMs: number | null;
  /** From the fault to the return of the steady state; null when nothing had to recover, or it never did. */
  readonly recoverMs: number | null;
  /** Required outcomes that did not hold, as sentences. Empty: all held. */
  readonly problems: readonly string[];
  readonly findings: Findings;
  /** Anything else a reader may want to know. */
  readonly notes?: readonly string[];
}

/** Cannot be shown on this machine: why, as a sentence part. */
export interface Skipped {
  readonly skipped: string;
}

export interface RowContext {
  /** Every random choice of the row follows from it. */
  readonly seed: number;
  /** A folder of the row's own under the temporary folder; must be empty of running things when the row ends, and is then removed. */
  readonly dir: string;
  /** Multiplies recovery limits and watchdogs: 1 on a machine that is ours alone. */
  readonly patience: number;
  /** Seconds of each rate window around the fault. */
  readonly windowSeconds: number;
  /** Outages last as long as the fault matrix says, where rows otherwise take a shorter one. */
  readonly full?: boolean;
  /** Nobody else uses this machine: its clock may be set and its memory filled. */
  readonly ownMachine?: boolean;
  /** A line for a person who watches. */
  readonly say: (line: string) => void;
  /** A bug planted in the supervisor, by tests: the matrix must find it. */
  readonly bug?: PlantedBug;
}

export interface PlantedBug {
  readonly seams?: CrewSeams;
  readonly wrapMemory?: (memory: Memory) => Memory;
}

export interface ChaosRow {
  readonly row: number;
  readonly fault: string;
  /** What must come of it, in the words of the fault matrix. */
  readonly outcome: string;
  /** Longest recovery; null: bounded by something else than time. 0: nothing may need to recover. */
  readonly recoverLimitMs: number | null;
  /** Reason to skip the row before anything is started, or null. */
  readonly needs?: () => string | null;
  /** Rejects only for a bug or a rig that cannot be raised: the row then fails with that message. */
  readonly run: (context: RowContext) => Promise<RowOutcome | Skipped>;
}

export interface RowResult {
  readonly row: number;
  readonly fault: string;
  readonly result: 'PASS' | 'FAIL' | 'SKIPPED';
  /** Why it failed or was skipped; empty for PASS. */
  readonly reason: string;
  readonly detect_ms: number | null;
  readonly recover_ms: number | null;
  readonly recover_limit_ms: number | null;
  readonly invariants: Readonly<Record<InvariantName, boolean | null>>;
  readonly evidence: Readonly<Partial<Record<InvariantName, string>>>;
  readonly notes: readonly string[];
  readonly seed: number;
  readonly started_at: string;
  readonly seconds: number;
  /** Times it was run: a second time when the only complaint was a rate on a machine with other users. */
  readonly runs: number;
}
