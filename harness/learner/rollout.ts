// Where transitions wait for an update: every env fills its own row of `horizon` transitions at its own pace, so a straggler delays only
// itself. Written frame by frame by the settle rules, read by the update. Observations lie in one chunk per added range, so growing never
// copies them; a row has horizon + 1 places, the last holding the observation that the completed row waits on.
import type { ObservationPlane } from './observation-plan.js';

/** What a row is doing. `ended`: its last frame ended an episode, the next one must be a reset. */
export const ROW = { fresh: 0, open: 1, ended: 2, gone: 3 } as const;

export interface Rollout {
  readonly horizon: number;
  readonly planes: readonly ObservationPlane[];
  readonly actionLength: number;
  rows: number;
  /** ROW state, by row. */
  state: Uint8Array;
  /** Settled transitions in the row, 0..horizon. */
  length: Int32Array;
  /** First transition of the row that belongs to the running episode: what is dropped when it is lost. */
  episodeStart: Int32Array;
  /** 1 = complete and its newest frame is not answered: the env waits for the update. */
  held: Uint8Array;
  envId: Int32Array;
  /** Actions sampled so far, by row: the counter of its noise. */
  draws: Uint32Array;
  /** By row x (horizon + 1). */
  logProbs: Float32Array;
  values: Float32Array;
  actions: Float32Array;
  /** By row x horizon. `bootstrap` is V(final) of truncated transitions, and V(next) of the last one of a complete row. */
  rewards: Float32Array;
  flags: Uint8Array;
  bootstrap: Float32Array;
  /** Adds rows with ids firstEnvId.., returns the first one's number. */
  addRows(count: number, firstEnvId: number): number;
  /** Chunk of plane `plane` that holds `row`, and where the row's place `t` starts in it. */
  chunk(plane: number, row: number): Float32Array | Uint8Array;
  offset(plane: number, row: number, t: number): number;
}

export function createRollout(horizon: number, planes: readonly ObservationPlane[], actionLength: number): Rollout {
  const places = horizon + 1;
  const firstRows: number[] = [];
  const chunks: (Float32Array | Uint8Array)[][] = [];
  let chunkOf = new Uint16Array(0);

  const grown = <T extends Uint8Array | Uint16Array | Int32Array | Uint32Array | Float32Array>(old: T, size: number): T => {
    const bigger = new (old.constructor as new (size: number) => T)(size);
    bigger.set(old as never);
    return bigger;
  };

  return {
    horizon,
    planes,
    actionLength,
    rows: 0,
    state: new Uint8Array(0),
    length: new Int32Array(0),
    episodeStart: new Int32Array(0),
    held: new Uint8Array(0),
    envId: new Int32Array(0),
    draws: new Uint32Array(0),
    logProbs: new Float32Array(0),
    values: new Float32Array(0),
    actions: new Float32Array(0),
    rewards: new Float32Array(0),
    flags: new Uint8Array(0),
    bootstrap: new Float32Array(0),
    addRows(count, firstEnvId) {
      const first = this.rows;
      const rows = first + count;
      this.rows = rows;
      for (const key of ['state', 'length', 'episodeStart', 'held', 'envId', 'draws'] as const) this[key] = grown(this[key] as never, rows);
      for (const key of ['logProbs', 'values'] as const) this[key] = grown(this[key], rows * places);
      this.actions = grown(this.actions, rows * places * actionLength);
      for (const key of ['rewards', 'flags', 'bootstrap'] as const) this[key] = grown(this[key] as never, rows * horizon);
      chunkOf = grown(chunkOf, rows).fill(chunks.length, first);
      for (let i = 0; i < count; i++) this.envId[first + i] = firstEnvId + i;
      firstRows.push(first);
      chunks.push(planes.map(({ dtype, columns }) => new (dtype === 'u8' ? Uint8Array : Float32Array)(count * places * columns)));
      return first;
    },
    chunk(plane, row) {
      return (chunks[chunkOf[row] as number] as (Float32Array | Uint8Array)[])[plane] as Float32Array | Uint8Array;
    },
    offset(plane, row, t) {
      const inChunk = row - (firstRows[chunkOf[row] as number] as number);
      return (inChunk * places + t) * (planes[plane] as ObservationPlane).columns;
    },
  };
}

/** Copies `columns` numbers; a loop beats `set(subarray)` for short rows because it makes no view object. */
export function copyColumns(
  from: Float32Array | Uint8Array,
  fromAt: number,
  to: Float32Array | Uint8Array,
  toAt: number,
  columns: number,
): void {
  if (columns <= 64) for (let i = 0; i < columns; i++) to[toAt + i] = from[fromAt + i] as number;
  else to.set(from.subarray(fromAt, fromAt + columns), toAt);
}
