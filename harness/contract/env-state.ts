// What one env is doing, as one byte: the cells of the live page's map. Made from shared memory by the supervisor, drawn by the page.

/** By code: ENV_STATES[code]. */
export const ENV_STATES = [
  /** Planned, but its tier has not begun or its constructor is not done. */
  'not-started',
  'live',
  /** Stepping again after its worker died. */
  'restarted',
  /** It has an action to answer and has published nothing for a while. */
  'slow',
  /** Out of the run: it failed or broke the contract. */
  'quarantined',
  /** Its worker is gone for good. */
  'lost',
] as const;
export type EnvState = (typeof ENV_STATES)[number];

export const ENV_STATE_CODE: Readonly<Record<EnvState, number>> = {
  'not-started': 0,
  live: 1,
  restarted: 2,
  slow: 3,
  quarantined: 4,
  lost: 5,
};

/** Env ids `first` .. `first + count - 1` are of one mix entry. */
export interface EnvRange {
  readonly first: number;
  readonly count: number;
  readonly entry: string;
  readonly worker: number;
}
