// MountainCar-v0 of Gymnasium 1.4, after Moore's thesis (1990): a car between two hills, too weak to climb the right one directly.
// Reward -1 per step; terminated at position 0.5 with velocity >= 0; the time limit of 200 is set by the harness.
// State {position, velocity} stays f64, the observation is its f32 rounding.
import type { EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { TERMINATED } from '../../contract/frame-flags.js';
import { between, type ClassicEnv, classicSpaces } from './classic.js';

const STATE = 2;
const MIN_POSITION = -1.2;
const MAX_POSITION = 0.6;
const MAX_SPEED = 0.07;
const GOAL_POSITION = 0.5;
const FORCE = 0.001;
const GRAVITY = 0.0025;

/** One step of the state at `s[at..]`; writes the observation at `obs[out..]`; returns the flags. */
function advance(s: Float64Array, at: number, action: number, obs: Float32Array, out: number): number {
  let position = s[at] as number;
  let velocity = s[at + 1] as number;
  velocity += (action - 1) * FORCE + Math.cos(3 * position) * -GRAVITY;
  velocity = Math.min(Math.max(velocity, -MAX_SPEED), MAX_SPEED);
  position += velocity;
  position = Math.min(Math.max(position, MIN_POSITION), MAX_POSITION);
  if (position === MIN_POSITION && velocity < 0) velocity = 0;
  s[at] = position;
  s[at + 1] = velocity;
  obs[out] = position;
  obs[out + 1] = velocity;
  return position >= GOAL_POSITION && velocity >= 0 ? TERMINATED : 0;
}

function create(context: EnvContext): ClassicEnv {
  const { range } = context;
  const states = new Float64Array(context.capacity * STATE);
  const plane = range.obs.vector as Float32Array;
  const { cell, reward, flags, actionStride } = range;
  const actions = range.action as Int32Array;
  return {
    stateLength: STATE,
    states,
    reset(slot: Slot, seed: SeedStream): void {
      const obs = slot.obs.vector as Float32Array;
      const position = between(seed.uniform(), -0.6, -0.4);
      states[slot.index * STATE] = position;
      states[slot.index * STATE + 1] = 0;
      obs[0] = position;
      obs[1] = 0;
    },
    step(slot: Slot, action): StepResult {
      const ended = advance(states, slot.index * STATE, action as number, slot.obs.vector as Float32Array, 0);
      return { reward: -1, terminated: ended !== 0, truncated: false };
    },
    stepMany(first: number, count: number): void {
      for (let i = first; i < first + count; i++) {
        flags[i] = advance(states, i * STATE, actions[i * actionStride] as number, plane, (cell[i] as number) * STATE);
        reward[i] = -1;
      }
    },
  };
}

export const mountainCar: EnvKind = {
  name: 'mountain-car',
  version: '1.0.0',
  summary: 'swing a weak car out of a valley (Gymnasium MountainCar-v0): vector f32[2], 3 actions, 200 steps',
  spaces: () => classicSpaces([MIN_POSITION, -MAX_SPEED], [MAX_POSITION, MAX_SPEED], { type: 'discrete', n: 3 }),
  timeLimit: () => 200,
  create,
  solvedReturn: -110,
  sources: [import.meta.url],
};
