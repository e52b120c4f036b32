// MountainCarContinuous-v0 of Gymnasium 1.4: the mountain car with a force in [-1, 1]. Reward -0.1 force^2, +100 at the goal (position
// 0.45); the time limit of 999 is set by the harness. Gymnasium keeps the state in float32 after the first step, and NumPy 2 computes
// with it in float32 except where a clamp has put a Python float (f64) in: both are followed here, so that trajectories agree.
import type { EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { TERMINATED } from '../../contract/frame-flags.js';
import { between, type ClassicEnv, classicSpaces } from './classic.js';

/** {position, velocity, 1 in the first step of an episode: the reset state is still f64}. */
const STATE = 3;
const OBS = 2;
const MIN_POSITION = -1.2;
const MAX_POSITION = 0.6;
const MAX_SPEED = 0.07;
const GOAL_POSITION = 0.45;
const POWER = 0.0015;
const GRAVITY = 0.0025;
const { fround } = Math;
const POWER_F32 = fround(POWER);
const MAX_SPEED_F32 = fround(MAX_SPEED);
const MIN_POSITION_F32 = fround(MIN_POSITION);
const MAX_POSITION_F32 = fround(MAX_POSITION);
const GOAL_POSITION_F32 = fround(GOAL_POSITION);

/** What one step adds to the velocity. Inside [-1, 1] the force is a float32 and so is the result; a clamped one is a Python float. */
function push(position: number, action: number, wide: boolean): number {
  const pull = GRAVITY * Math.cos(wide ? 3 * position : fround(3 * position));
  if (action < -1) return -POWER - pull;
  if (action > 1) return POWER - pull;
  return fround(fround(action * POWER_F32) - fround(pull));
}

/** One step of the state at `s[at..]`; writes the observation at `obs[out..]`; returns the flags. */
function advance(s: Float64Array, at: number, action: number, obs: Float32Array, out: number): number {
  let position = s[at] as number;
  let velocity = s[at + 1] as number;
  const wide = s[at + 2] !== 0;
  let ended: boolean;
  if (wide) {
    velocity += push(position, action, true);
    if (velocity > MAX_SPEED) velocity = MAX_SPEED;
    if (velocity < -MAX_SPEED) velocity = -MAX_SPEED;
    position += velocity;
    if (position > MAX_POSITION) position = MAX_POSITION;
    if (position < MIN_POSITION) position = MIN_POSITION;
    if (position === MIN_POSITION && velocity < 0) velocity = 0;
    ended = position >= GOAL_POSITION && velocity >= 0;
  } else {
    velocity = fround(velocity + fround(push(position, action, false)));
    if (velocity > MAX_SPEED_F32) velocity = MAX_SPEED_F32;
    if (velocity < -MAX_SPEED_F32) velocity = -MAX_SPEED_F32;
    position = fround(position + velocity);
    if (position > MAX_POSITION_F32) position = MAX_POSITION_F32;
    if (position < MIN_POSITION_F32) position = MIN_POSITION_F32;
    if (position === MIN_POSITION_F32 && velocity < 0) velocity = 0;
    ended = position >= GOAL_POSITION_F32 && velocity >= 0;
  }
  position = fround(position);
  velocity = fround(velocity);
  s[at] = position;
  s[at + 1] = velocity;
  s[at + 2] = 0;
  obs[out] = position;
  obs[out + 1] = velocity;
  return ended ? TERMINATED : 0;
}

function rewardOf(action: number, ended: number): number {
  return (ended === 0 ? 0 : 100) - action * action * 0.1;
}

function create(context: EnvContext): ClassicEnv {
  const { range } = context;
  const states = new Float64Array(context.capacity * STATE);
  const plane = range.obs.vector as Float32Array;
  const { cell, reward, flags, actionStride } = range;
  const actions = range.action as Float32Array;
  return {
    stateLength: STATE,
    states,
    reset(slot: Slot, seed: SeedStream): void {
      const obs = slot.obs.vector as Float32Array;
      const at = slot.index * STATE;
      const position = between(seed.uniform(), -0.6, -0.4);
      states[at] = position;
      states[at + 1] = 0;
      states[at + 2] = 1;
      obs[0] = position;
      obs[1] = 0;
    },
    step(slot: Slot, action): StepResult {
      const force = (action as Float32Array)[0] as number;
      const ended = advance(states, slot.index * STATE, force, slot.obs.vector as Float32Array, 0);
      return { reward: rewardOf(force, ended), terminated: ended !== 0, truncated: false };
    },
    stepMany(first: number, count: number): void {
      for (let i = first; i < first + count; i++) {
        const force = actions[i * actionStride] as number;
        const ended = advance(states, i * STATE, force, plane, (cell[i] as number) * OBS);
        flags[i] = ended;
        reward[i] = rewardOf(force, ended);
      }
    },
  };
}

export const mountainCarContinuous: EnvKind = {
  name: 'mountain-car-continuous',
  version: '1.0.0',
  summary: 'the mountain car with a continuous force (Gymnasium MountainCarContinuous-v0): vector f32[2], box[1], 999 steps',
  spaces: () =>
    classicSpaces([MIN_POSITION, -MAX_SPEED], [MAX_POSITION, MAX_SPEED], {
      type: 'box',
      shape: [1],
      low: -1,
      high: 1,
    }),
  timeLimit: () => 999,
  create,
  solvedReturn: 90,
  sources: [import.meta.url],
};
