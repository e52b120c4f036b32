// Where a run's state lies for people and tools to see: Redis, or a twin in memory. The supervisor writes, tools read, commands come the
// other way. It is a mirror: nothing here decides a kill in mode `progress`, and a store that is down costs a run nothing but the view.
// Bounds: values are absolute (a lost write is healed by the next), every key has a life time, streams have a longest length.
import type { EnvStats } from '../../contract/messages.js';

/** Seconds that every key lives after its last write: long enough to look at a run that ended over lunch. */
export const STATE_TTL_SECONDS = 3_600;
/** Commands or answers that wait in their stream; older ones give way. */
export const MAX_STREAM_ENTRIES = 1_000;

/** The run as a whole. */
export interface RunInfo {
  readonly runId: string;
  readonly plan: string;
  readonly pid: number;
  readonly startedAt: string;
  /** Wall clock of this word. */
  readonly at: string;
  readonly phase: string;
  readonly tier: number;
  readonly envs: number;
  readonly live: number;
  readonly quarantined: number;
  readonly samplingSps: number;
  readonly trainingSps: number;
  readonly restarts: number;
  /** Why nothing is killed at present. */
  readonly suspended: string | null;
}

/** One worker's heartbeat, as the supervisor sees it. */
export interface WorkerBeat {
  readonly worker: number;
  readonly verdict: string;
  readonly epoch: number;
  readonly pid: number | null;
  readonly envId: number;
  readonly op: string;
  /** Null before the process first reported. */
  readonly frames: number | null;
  readonly rssBytes: number | null;
  /** Null = never stamped. */
  readonly nativeAgeMs: number | null;
  readonly loopAgeMs: number | null;
  readonly opAgeMs: number | null;
  readonly restarts: number;
  readonly budgetLeft: number;
}

/** Heartbeats of all envs, by env id: frames published since the run began, and ENV_STATES codes. */
export interface EnvBeats {
  readonly frames: Float64Array;
  readonly states: Uint8Array;
}

/** Stability scores: 1 = never failed. Whoever changes one raises `version`. */
export interface Scores {
  readonly version: number;
  /** By mix entry. */
  readonly kinds: Readonly<Record<string, number>>;
  /** By env id, of the envs listed; the others have the score 1. */
  readonly envIds: Int32Array;
  readonly envScores: Float32Array;
}

/** What one write carries; a part that is left out keeps what the store holds. */
export interface StateBatch {
  /** Token of this writer. A store that holds another one, or none, was wiped or is new. */
  readonly generation: string;
  readonly info: RunInfo;
  readonly workers: readonly WorkerBeat[];
  readonly envs?: EnvBeats;
  readonly rewards?: EnvStats;
  readonly scores?: Scores;
}

export interface WriteOutcome {
  /** False: the store did not hold this writer's generation before; everything has to be written again. */
  readonly known: boolean;
  /** Why the store refused some or all of it (out of memory, read-only); null when all of it landed. */
  readonly refused: string | null;
  /** Round trips are few: commands in this write's pipeline. */
  readonly commands: number;
}

export interface StreamEntry {
  /** The store's id: rises within a stream. */
  readonly entry: string;
  readonly text: string;
}

export interface StateStore {
  readonly name: 'redis' | 'twin';
  /** Rejects within about a second when the store cannot be reached; what it had sent by then may still land. */
  write(batch: StateBatch): Promise<WriteOutcome>;
  readInfo(): Promise<RunInfo | null>;
  readWorkers(): Promise<WorkerBeat[]>;
  readEnvs(): Promise<EnvBeats>;
  readRewards(): Promise<EnvStats>;
  /** Consistent: all of one version. Null before the first. */
  readScores(): Promise<Scores | null>;
  /** 0 before the first. */
  scoresVersion(): Promise<number>;
  /** Told of new versions as they are written, or not: a hint may be lost. The returned function ends it. */
  onScoresHint(listener: (version: number) => void): () => void;
  /** Tools: puts a command's text into the stream; returns the newest entry of the answers before it, to read on from. */
  sendCommand(text: string): Promise<string>;
  /** Supervisor: commands not taken yet, oldest first, and how many were pushed out before anybody took them. */
  takeCommands(limit: number): Promise<{ readonly commands: readonly StreamEntry[]; readonly overrun: number }>;
  /** Supervisor: this command is done with; its answer, if it gets one, goes into the answers. */
  settleCommand(entry: string, answer: string | null): Promise<void>;
  /** Tools: answers after `entry`. */
  readAnswers(after: string): Promise<readonly StreamEntry[]>;
  /** Workers of mode `account`: "I was alive at `atMs`" (wall clock, as the account had it). */
  writeBeat(worker: number, atMs: number): Promise<void>;
  /** Wall-clock milliseconds of each worker's newest beat. */
  readBeats(): Promise<ReadonlyMap<number, number>>;
  /** Commands sent and not answered by the store: what could grow, and must not. */
  pending(): number;
  close(): void;
}
