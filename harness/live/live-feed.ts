// What the live page is told: the shape of the data between the run and its viewers. The ladder fills it, the server sends it as JSON,
// the page draws it. Everything in it may hold text that environments wrote; nobody on the way trusts it.
import type { EnvRange } from '../contract/env-state.js';
import type { RunEventType } from '../contract/run-events.js';

/** What does not change during a run. */
export interface LiveHead {
  readonly runId: string;
  readonly plan: string;
  readonly command: string;
  readonly tiers: readonly { readonly label: string; readonly envs: number; readonly seconds: number }[];
  /** Mix entries: the order of `LivePoint.returns`. */
  readonly entries: readonly string[];
  /** Envs of the last tier: cells of the map. */
  readonly envs: number;
  readonly ranges: readonly EnvRange[];
}

export type LivePhase = 'starting' | 'growing' | 'measuring' | 'stopping' | 'done';

/** How the run stands now. */
export interface LiveStatus {
  readonly phase: LivePhase;
  readonly tier: number;
  readonly label: string;
  readonly envs: number;
  readonly live: number;
  readonly quarantined: number;
  readonly runSeconds: number;
  readonly tierSeconds: number;
  readonly plannedSeconds: number;
  readonly etaSeconds: number;
  readonly samplingSps: number;
  readonly trainingSps: number;
  readonly batchFill: number;
  readonly updates: number;
  readonly restarts: number;
  readonly memoryBytes: number;
  readonly kinds: Readonly<Record<string, { readonly episodes: number; readonly recentReturn: number | null }>>;
}

/** A tier that is over. */
export interface LiveTier {
  readonly tier: number;
  readonly verdict: 'valid' | 'invalid';
  readonly samplingSps: number;
  readonly trainingSps: number;
  readonly latencyP99Us: number | null;
  readonly reasons: readonly string[];
  /** Objectives of the tier: how many, how many were met, and those that were not, each with what was found. */
  readonly objectives: { readonly all: number; readonly met: number; readonly missed: readonly string[] };
}

/** Where the server looks once a second. Nothing here may wait. */
export interface LiveSource {
  readonly head: LiveHead;
  status(): LiveStatus;
  tiers(): readonly LiveTier[];
  /** ENV_STATE_CODE by env id. */
  envStates(): Uint8Array;
}

/** Something that happened. */
export interface LiveEvent {
  readonly type: RunEventType;
  readonly message: string;
  readonly runSeconds: number;
}

/** One point of the curves. */
export interface LivePoint {
  readonly id: number;
  /** Seconds since the run began. */
  readonly t: number;
  readonly tier: number;
  readonly sampling: number;
  readonly training: number;
  readonly fill: number;
  readonly live: number;
  /** Mean return of the last 100 episodes by mix entry; null before the first. */
  readonly returns: readonly (number | null)[];
}

/** Events that say the same of different envs, counted. */
export interface LiveNotice {
  /** Identifies the group while the page is open. */
  readonly key: number;
  readonly type: RunEventType;
  /** As the newest one said it. */
  readonly message: string;
  readonly count: number;
  readonly t: number;
}

/** One server-sent event named `frame`. */
export interface LiveFrame {
  /** True: forget points and notices seen so far, these are all. */
  readonly whole: boolean;
  readonly head: LiveHead | null;
  readonly status: LiveStatus;
  readonly tiers: readonly LiveTier[];
  readonly points: readonly LivePoint[];
  readonly notices: readonly LiveNotice[];
  /** Run lengths: state, count, state, count, ... over the env ids. */
  readonly states: readonly number[];
  /** By state code. */
  readonly stateCounts: readonly number[];
}
