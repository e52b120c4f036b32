// Names of a run's keys in the state store. Pure. Tools rely on them: docs/state.md lists them.

export interface StateKeys {
  /** String: token of the writer whose state this is. */
  readonly generation: string;
  /** String, JSON. */
  readonly info: string;
  /** Hash: worker -> JSON. */
  readonly workers: string;
  /** Hash: first env id of a chunk -> packed records. */
  readonly envs: string;
  readonly rewards: string;
  /** Hash: version, kind:NAME, envs:CHUNK. */
  readonly scores: string;
  /** Channel: the newest version of the scores. */
  readonly scoresHint: string;
  /** Streams with one field, `json`. */
  readonly commands: string;
  readonly answers: string;
  /** Hash: worker -> milliseconds. Mode `account` only. */
  readonly beats: string;
}

export function stateKeys(prefix: string, runId: string): StateKeys {
  const under = (name: string): string => `${prefix}:${runId}:${name}`;
  return {
    generation: under('generation'),
    info: under('info'),
    workers: under('workers'),
    envs: under('envs'),
    rewards: under('rewards'),
    scores: under('scores'),
    scoresHint: under('scores-hint'),
    commands: under('commands'),
    answers: under('answers'),
    beats: under('beats'),
  };
}
