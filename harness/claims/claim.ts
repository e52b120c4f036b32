// What a claim of the account is to the runner: a question with a rule fixed in advance, and a measurement of both sides. One file per claim
// in rows/, listed in all-claims.ts; run-claims.ts runs them and keeps raw samples; reports/claims judges.
import type { ClaimSize, Registered, Said } from '../contract/claims-record.js';

/** metric id -> side name -> one value per repeat. */
export type Samples = Record<string, Record<string, number[]>>;

/** What one side measured in one repeat: metric id -> value. All values must be finite. */
export type Taken = Readonly<Record<string, number>>;

/** What each side does in one repeat, by side name. */
export type SideBodies = Readonly<Record<string, (repeat: number) => Taken | Promise<Taken>>>;

export interface Measured {
  readonly samples: Samples;
  /** Sizes, counts and durations that both sides shared, for the reader. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
}

export interface InterleaveOptions {
  /** Repeats of each side; default `context.repeats`. */
  readonly repeats?: number;
  /** Calls of each side before the first repeat, thrown away. Default 0. */
  readonly warmUps?: number;
  /** Other streams of order for several interleavings within a claim. */
  readonly stream?: number;
}

export interface ClaimContext {
  readonly size: ClaimSize;
  /** One of three values by size: `context.pick({ full: 8, quick: 3, tiny: 1 })`. */
  readonly pick: <Value>(bySize: Readonly<Record<ClaimSize, Value>>) => Value;
  /** Every random choice of the claim follows from it. */
  readonly seed: number;
  /** Repeats of each side. */
  readonly repeats: number;
  /** Aborted when the user interrupts or the time is over: `interleave` then leaves out the round at hand and ends. */
  readonly signal: AbortSignal;
  /** An empty folder of the claim's own, removed afterwards. */
  readonly dir: string;
  /** A line for a person who watches. */
  readonly say: (line: string) => void;
  /**
   * Runs all sides `repeats` times, round by round, the order within each round drawn from the seed; looks how busy the machine was with other
   * work meanwhile. Returns what was taken, complete rounds only. A body that rejects ends the claim as failed.
   */
  readonly interleave: (sides: SideBodies, options?: InterleaveOptions) => Promise<Samples>;
}

export interface Claim {
  readonly id: string;
  /** The account's words, paraphrased, with its figure. */
  readonly said: Said;
  readonly question: string;
  /** Sides, metrics and rule. Pure; printed before anything is measured. */
  readonly register: () => Registered;
  /** Why this machine cannot show it, or null. Cheap: looks, starts nothing that lasts. */
  readonly needs: () => string | null | Promise<string | null>;
  /** Leaves no process, file or setting behind, also when it throws. */
  readonly run: (context: ClaimContext) => Promise<Measured>;
}
