// Pendulum-v1 of Gymnasium 1.4: swing a pendulum up and hold it with at most 2 N m. Reward -(angle^2 + 0.1 velocity^2 + 0.001 torque^2)
// of the state before the step, never terminated; the time limit of 200 is set by the harness. The torque is a float32, and NumPy 2
// keeps its products in float32 before they meet the f64 state {angle, velocity}.
import type { EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { between, type ClassicEnv, classicSpaces } from './classic.js';

const STATE = 2;
const OBS = 3;
const MAX_SPEED = 8;
const MAX_TORQUE = 2;
const DT = 0.05;
/** 3 g / (2 l) with g = 10, l = 1; and 3 / (m l^2). */
const GRAVITY_TERM = 15;
const TORQUE_TERM = 3;
const TWO_PI = 2 * Math.PI;
const { fround } = Math;
const TORQUE_COST_F32 = fround(0.001);

/** Into [-pi, pi), with the sign rule of Python's %. */
function normalizeAngle(angle: number): number {
  const rest = (angle + Math.PI) % TWO_PI;
  return (rest < 0 ? rest + TWO_PI : rest) - Math.PI;
}

/** One step of the state at `s[at..]`; writes the observation at `obs[out..]`; returns the reward. */
function advance(s: Float64Array, at: number, action: number, obs: Float32Array, out: number): number {
  const angle = s[at] as number;
  const velocity = s[at + 1] as number;
  const torque = Math.min(Math.max(action, -MAX_TORQUE), MAX_TORQUE);
  const off = normalizeAngle(angle);
  const cost = off * off + 0.1 * (velocity * velocity) + fround(TORQUE_COST_F32 * fround(torque * torque));
  let nextVelocity = velocity + (GRAVITY_TERM * Math.sin(angle) + fround(TORQUE_TERM * torque)) * DT;
  nextVelocity = Math.min(Math.max(nextVelocity, -MAX_SPEED), MAX_SPEED);
  const nextAngle = angle + nextVelocity * DT;
  s[at] = nextAngle;
  s[at + 1] = nextVelocity;
  observe(nextAngle, nextVelocity, obs, out);
  return -cost;
}

function observe(angle: number, velocity: number, obs: Float32Array, out: number): void {
  obs[out] = Math.cos(angle);
  obs[out + 1] = Math.sin(angle);
  obs[out + 2] = velocity;
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
      const angle = between(seed.uniform(), -Math.PI, Math.PI);
      const velocity = between(seed.uniform(), -1, 1);
      states[slot.index * STATE] = angle;
      states[slot.index * STATE + 1] = velocity;
      observe(angle, velocity, slot.obs.vector as Float32Array, 0);
    },
    step(slot: Slot, action): StepResult {
      const torque = (action as Float32Array)[0] as number;
      const gained = advance(states, slot.index * STATE, torque, slot.obs.vector as Float32Array, 0);
      return { reward: gained, terminated: false, truncated: false };
    },
    stepMany(first: number, count: number): void {
      for (let i = first; i < first + count; i++) {
        const torque = actions[i * actionStride] as number;
        reward[i] = advance(states, i * STATE, torque, plane, (cell[i] as number) * OBS);
        flags[i] = 0;
      }
    },
  };
}

export const pendulum: EnvKind = {
  name: 'pendulum',
  version: '1.0.0',
  summary: 'swing a pendulum up and hold it (Gymnasium Pendulum-v1): vector f32[3], box[1], 200 steps',
  spaces: () =>
    classicSpaces([-1, -1, -MAX_SPEED], [1, 1, MAX_SPEED], {
      type: 'box',
      shape: [1],
      low: -MAX_TORQUE,
      high: MAX_TORQUE,
    }),
  timeLimit: () => 200,
  create,
  sources: [import.meta.url],
};
