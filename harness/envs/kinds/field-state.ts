// Dynamics of `field`: an agent on a 224 x 224 px field accelerates in four directions and catches targets, which come back elsewhere.
// One row of doubles per slot, changed only here, read by field-view.ts. Units: pixels and pixels per step.
import type { SeedStream } from '../../contract/env.js';

export const FIELD_PX = 224;
export const TARGETS = 4;
/** Steps of an episode, set by the harness as truncation. */
export const EPISODE_STEPS = 128;
/** Half the side of the agent's and of a target's square. */
export const AGENT_HALF_PX = 6;
export const TARGET_HALF_PX = 5;
export const MAX_SPEED_PX = 6;
/** Velocity keeps this part per step; with PUSH_PX it tends to MAX_SPEED_PX. */
const DRAG = 0.6;
const PUSH_PX = MAX_SPEED_PX * (1 - DRAG);
const CATCH_PX = 12;
const CATCH_REWARD = 1;
/** Pixels of approach to the nearest target that are worth 1. */
const PROGRESS_PX = 32;

/** Offsets into a slot's row. */
export const ROW = { x: 0, y: 1, vx: 2, vy: 3, steps: 4, caught: 5, action: 6, targets: 7, length: 7 + 2 * TARGETS } as const;

const LOW = AGENT_HALF_PX;
const HIGH = FIELD_PX - AGENT_HALF_PX;

/** A place for a square of half side `half`, anywhere on the field. */
function place(seed: SeedStream, half: number): number {
  return half + seed.uniform() * (FIELD_PX - 2 * half);
}

/** Index of the target nearest to the agent. */
export function nearestTarget(s: Float64Array, at: number): number {
  let nearest = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let k = 0; k < TARGETS; k++) {
    const dx = (s[at + ROW.targets + 2 * k] as number) - (s[at + ROW.x] as number);
    const dy = (s[at + ROW.targets + 2 * k + 1] as number) - (s[at + ROW.y] as number);
    const square = dx * dx + dy * dy;
    if (square < least) {
      least = square;
      nearest = k;
    }
  }
  return nearest;
}

function distanceTo(s: Float64Array, at: number, target: number): number {
  const dx = (s[at + ROW.targets + 2 * target] as number) - (s[at + ROW.x] as number);
  const dy = (s[at + ROW.targets + 2 * target + 1] as number) - (s[at + ROW.y] as number);
  return Math.sqrt(dx * dx + dy * dy);
}

/** Puts agent and targets at random places, at rest. */
export function startField(s: Float64Array, at: number, seed: SeedStream): void {
  s.fill(0, at, at + ROW.length);
  s[at + ROW.x] = place(seed, AGENT_HALF_PX);
  s[at + ROW.y] = place(seed, AGENT_HALF_PX);
  for (let j = 0; j < 2 * TARGETS; j++) s[at + ROW.targets + j] = place(seed, TARGET_HALF_PX);
}

/** One step; returns the reward: approach to the target that was nearest, plus 1 for catching it. A caught target is placed anew. */
export function advanceField(s: Float64Array, at: number, action: number, seed: SeedStream): number {
  const target = nearestTarget(s, at);
  const before = distanceTo(s, at, target);
  let vx = (s[at + ROW.vx] as number) * DRAG + (action === 4 ? PUSH_PX : action === 3 ? -PUSH_PX : 0);
  let vy = (s[at + ROW.vy] as number) * DRAG + (action === 2 ? PUSH_PX : action === 1 ? -PUSH_PX : 0);
  let x = (s[at + ROW.x] as number) + vx;
  let y = (s[at + ROW.y] as number) + vy;
  if (x < LOW || x > HIGH) {
    x = x < LOW ? LOW : HIGH;
    vx = 0;
  }
  if (y < LOW || y > HIGH) {
    y = y < LOW ? LOW : HIGH;
    vy = 0;
  }
  s[at + ROW.x] = x;
  s[at + ROW.y] = y;
  s[at + ROW.vx] = vx;
  s[at + ROW.vy] = vy;
  s[at + ROW.steps] = (s[at + ROW.steps] as number) + 1;
  s[at + ROW.action] = action;
  const after = distanceTo(s, at, target);
  const progress = (before - after) / PROGRESS_PX;
  if (after > CATCH_PX) return progress;
  s[at + ROW.caught] = (s[at + ROW.caught] as number) + 1;
  s[at + ROW.targets + 2 * target] = place(seed, TARGET_HALF_PX);
  s[at + ROW.targets + 2 * target + 1] = place(seed, TARGET_HALF_PX);
  return progress + CATCH_REWARD;
}
