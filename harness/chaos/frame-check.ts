// Checks frames of the `probe` kind as a learner takes them: every cell must hold the one number that belongs to (env id, episode, step),
// and the frames of an env must follow each other without a gap, a repeat or a step back. Pure; fed by checked-memory.ts.
import type { TypedArray } from '../contract/dtype.js';
import { ABANDONED, DONE, FIRST, QUARANTINED } from '../contract/frame-flags.js';
import { decodeProbe, probeValue } from '../envs/kinds/probe.js';
import { HUGE_REWARD } from './trigger.js';

/** Violations told in full; the rest are counted. */
const TOLD = 20;

export interface FrameCheck {
  /** Rows from `first` on belong to the env ids from `firstEnvId` on; nothing is known of their past. */
  addRows(first: number, count: number, firstEnvId: number): void;
  /** One taken frame: its observation starts at element `at` of `cells` and is `width` long. */
  see(row: number, flags: number, reward: number, cells: TypedArray, at: number, width: number): void;
  readonly frames: number;
  readonly cells: number;
  readonly violations: number;
  /** Sentences about the first violations since the last call. */
  takeTold(): string[];
}

interface Past {
  readonly envId: number;
  episode: number;
  step: number;
  /** `unknown`: its first frame may be any. */
  state: 'unknown' | 'open' | 'ended' | 'gone';
}

const nameOf = (flags: number): string =>
  [
    [FIRST, 'FIRST'],
    [DONE, 'DONE'],
    [ABANDONED, 'ABANDONED'],
    [QUARANTINED, 'QUARANTINED'],
  ]
    .filter(([bit]) => (flags & (bit as number)) !== 0)
    .map(([, name]) => name)
    .join('|') || 'step';

export function createFrameCheck(): FrameCheck {
  const rows: Past[] = [];
  let told: string[] = [];
  let everTold = 0;
  let frames = 0;
  let cells = 0;
  let violations = 0;

  const complain = (past: Past, flags: number, what: string): void => {
    violations++;
    if (everTold++ < TOLD)
      told.push(`env ${past.envId}, after episode ${past.episode} step ${past.step} (${past.state}), ${nameOf(flags)} frame: ${what}`);
  };

  /** Cells that are not what the first one promises; names the first of them. */
  const badCell = (base: number, values: TypedArray, at: number, width: number): string | null => {
    for (let j = 0; j < width; j++) {
      const value = values[at + j] as number;
      if (value === base + (j % 1024)) continue;
      const seen = Number.isFinite(value) ? JSON.stringify(decodeProbe(value)) : String(value);
      return `element ${j} is ${seen}, where ${JSON.stringify(decodeProbe(base + (j % 1024)))} belongs`;
    }
    return null;
  };

  const order = (past: Past, flags: number, episode: number, step: number): string | null => {
    const first = (flags & FIRST) !== 0;
    if (past.state === 'unknown') return null;
    if (first) {
      if (step !== 0) return `a reset with step ${step}`;
      if ((flags & ABANDONED) !== 0) return null;
      if (past.state === 'open') return 'a reset in the middle of an episode without ABANDONED';
      if (past.state === 'ended' && episode !== (past.episode + 1) % 4096) return `episode ${episode} follows ${past.episode}`;
      return null;
    }
    if (past.state === 'gone') return 'a step of an env that was quarantined';
    if (past.state === 'ended') return `step ${step} of episode ${episode} after the end of episode ${past.episode}`;
    if (episode !== past.episode || step !== (past.step + 1) % 1024) return `step ${step} of episode ${episode}`;
    return null;
  };

  return {
    addRows(first, count, firstEnvId) {
      for (let i = 0; i < count; i++) rows[first + i] = { envId: firstEnvId + i, episode: 0, step: 0, state: 'unknown' };
    },
    see(row, flags, reward, values, at, width) {
      const past = rows[row];
      if (past === undefined) throw new Error(`row ${row} was never added`);
      frames++;
      if ((flags & QUARANTINED) !== 0) {
        // Its last cell is whatever it was; nothing is made of it.
        past.state = 'gone';
        return;
      }
      cells += width;
      const value = values[at] as number;
      const { episode, step } = Number.isFinite(value) ? decodeProbe(value) : { episode: -1, step: -1 };
      const base = Number.isFinite(value) ? probeValue(past.envId, episode, step, 0) : Number.NaN;
      const wrong = badCell(base, values, at, width) ?? order(past, flags, episode, step);
      if (wrong !== null) complain(past, flags, wrong);
      else if ((flags & FIRST) === 0 && reward % 1024 !== step && reward !== HUGE_REWARD)
        complain(past, flags, `reward ${reward} at step ${step}`);
      past.episode = episode;
      past.step = step;
      past.state = (flags & DONE) !== 0 ? 'ended' : 'open';
    },
    get frames() {
      return frames;
    },
    get cells() {
      return cells;
    },
    get violations() {
      return violations;
    },
    takeTold() {
      const out = told;
      told = [];
      return out;
    },
  };
}
