// What answers frames: the constant, the random or the PPO agent. One per space signature; it is told which rows exist, and called with
// every batch the reader took. An agent gives each frame its fate in the balance and each live slot its answer.

export interface Agent {
  /** Rows first..first+count-1 now exist; their env ids follow from firstEnvId. `task` names their mix entry. */
  addRows(first: number, count: number, firstEnvId: number, task?: string): void;
  /** These rows will publish no more frames. */
  dropRows(first: number, count: number): void;
  /** Settles and answers the `count` frames of the reader's last collect. */
  answer(count: number): void;
  /** At stop: settles frames without answering them. */
  settle(count: number): void;
  /** Whether enough is stored for an update. */
  readonly updateDue: boolean;
  /** One update. Yields to the event loop between minibatches; ends early, cleanly, once `stopping` says so. */
  update(stopping: () => boolean): Promise<void>;
  /** At stop: what is pending becomes unfinished. */
  finish(): void;
  /** Rows that have published and are not out. */
  readonly liveRows: number;
  readonly updates: number;
  /** Of the newest update; empty before the first. */
  readonly losses: Readonly<Record<string, number>>;
  dispose(): void;
}
