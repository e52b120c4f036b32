// The agents that do not learn: `none` answers with one constant action, so that the framework itself can be measured, `random` with
// uniform actions that depend on (seed, env id, draw) alone. Every step frame counts as evaluated.

import type { AutoresetMode } from '../contract/frame-flags.js';
import { ABANDONED, DONE, FIRST, QUARANTINED } from '../contract/frame-flags.js';
import { type ActionSpace, actionElements, boundAt } from '../contract/spaces.js';
import type { BatchReader } from '../memory/interface.js';
import type { Agent } from './agent.js';
import type { Balance } from './balance.js';
import { noiseUniform } from './noise.js';
import type { PhaseClock } from './phase-clock.js';

export interface PlainAgentOptions {
  readonly mode: 'none' | 'random';
  readonly action: ActionSpace;
  readonly autoreset: AutoresetMode;
  readonly batchLimit: number;
  readonly noiseKey: number;
  readonly reader: BatchReader;
  readonly balance: Balance;
  readonly clock: PhaseClock;
}

/** Element `index` of an action for a uniform draw u in (0, 1); u = 0.5 gives the middle of a box, unbounded sides count as 1 away. */
function drawElement(space: ActionSpace, index: number, u: number): number {
  if (space.type === 'discrete') return Math.floor(u * space.n);
  if (space.type === 'multi-discrete') return Math.floor(u * (space.nvec[index] as number));
  let low = boundAt(space.low, index);
  let high = boundAt(space.high, index);
  if (!Number.isFinite(low)) low = Number.isFinite(high) ? high - 2 : -1;
  if (!Number.isFinite(high)) high = low + 2;
  return low + u * (high - low);
}

export function createPlainAgent(options: PlainAgentOptions): Agent {
  const { mode, action, autoreset, batchLimit, noiseKey, reader, balance, clock } = options;
  const { dtype, length } = actionElements(action);
  const actions = dtype === 'i32' ? new Int32Array(batchLimit * length) : new Float32Array(batchLimit * length);
  if (action.type === 'box') for (let i = 0; i < actions.length; i++) actions[i] = drawElement(action, i % length, 0.5);
  const rows = new Int32Array(batchLimit);
  const resets = new Int32Array(batchLimit);
  const LIVE = 1;
  const OUT = 2;
  let state = new Uint8Array(0);
  let envId = new Int32Array(0);
  let draws = new Uint32Array(0);
  let liveRows = 0;
  let resetCount = 0;

  /** Fates of all frames; fills `rows` and `resets` with those to answer, returns the number of the former. */
  const sort = (count: number): number => {
    const { rowOf, flags } = reader;
    let answered = 0;
    resetCount = 0;
    for (let i = 0; i < count; i++) {
      const row = rowOf[i] as number;
      const flag = flags[i] as number;
      if ((flag & QUARANTINED) !== 0) {
        balance.dropped.quarantined++;
        if (state[row] === LIVE) liveRows--;
        state[row] = OUT;
        continue;
      }
      // Also a row that was out: the reader hands out its frames again only once it was released.
      if (state[row] !== LIVE) {
        state[row] = LIVE;
        liveRows++;
      }
      if ((flag & FIRST) !== 0) balance.dropped.reset++;
      else if ((flag & ABANDONED) !== 0) balance.dropped.abandoned++;
      else balance.evaluated++;
      if (autoreset === 'disabled' && (flag & DONE) !== 0) resets[resetCount++] = row;
      else rows[answered++] = row;
    }
    return answered;
  };

  return {
    updates: 0,
    losses: {},
    updateDue: false,
    get liveRows() {
      return liveRows;
    },
    addRows(first, count, firstEnvId) {
      const grow = <T extends Uint8Array | Int32Array | Uint32Array>(old: T): T => {
        const bigger = new (old.constructor as new (size: number) => T)(first + count);
        bigger.set(old);
        return bigger;
      };
      state = grow(state);
      envId = grow(envId);
      draws = grow(draws);
      for (let i = 0; i < count; i++) envId[first + i] = firstEnvId + i;
    },
    dropRows(first, count) {
      for (let row = first; row < first + count; row++) {
        if (state[row] === LIVE) liveRows--;
        state[row] = OUT;
      }
    },
    answer(count) {
      clock.enter('store');
      const answered = sort(count);
      if (mode === 'random') {
        clock.enter('infer');
        for (let i = 0; i < answered; i++) {
          const row = rows[i] as number;
          const draw = draws[row] as number;
          draws[row] = draw + 1;
          for (let j = 0; j < length; j++) {
            actions[i * length + j] = drawElement(action, j, noiseUniform(noiseKey, envId[row] as number, draw, j));
          }
        }
      }
      clock.enter('act');
      if (answered > 0) reader.act(answered, rows, actions);
      if (resetCount > 0) reader.commandReset(resetCount, resets);
    },
    settle(count) {
      sort(count);
    },
    update: () => Promise.resolve(),
    finish() {
      // Nothing is ever pending here.
    },
    dispose() {
      // Holds plain arrays only.
    },
  };
}
