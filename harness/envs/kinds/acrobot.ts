// Acrobot-v1 of Gymnasium 1.4: swing a two-link arm above a line with torque on the joint between. Equations of Sutton and Barto (1998,
// "book"), one Runge-Kutta step of order 4 over 0.2 s. Reward -1, 0 on reaching the line; the time limit of 500 is set by the harness.
// State {theta1, theta2, theta1', theta2'} is f64; only the reset state is rounded to f32, as there.
import type { EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { TERMINATED } from '../../contract/frame-flags.js';
import { between, type ClassicEnv, classicSpaces } from './classic.js';

const STATE = 4;
const OBS = 6;
const DT = 0.2;
const MAX_VELOCITY_1 = 4 * Math.PI;
const MAX_VELOCITY_2 = 9 * Math.PI;
const GRAVITY = 9.8;
const HALF_PI = Math.PI / 2;
// Links of mass 1, length 1, centre of mass at 0.5, moment of inertia 1, put into the equations:
// d1 = 3.5 + cos(theta2); d2 = 1.25 + 0.5 cos(theta2).

/** Accelerations of the last call of `derive`: written by it, read by `advance` right after. */
const acceleration = new Float64Array(2);

function derive(theta1: number, theta2: number, velocity1: number, velocity2: number, torque: number): void {
  const cos2 = Math.cos(theta2);
  const sin2 = Math.sin(theta2);
  const d1 = 0.25 + (1.25 + cos2) + 1 + 1;
  const d2 = 0.25 + 0.5 * cos2 + 1;
  const phi2 = 0.5 * GRAVITY * Math.cos(theta1 + theta2 - HALF_PI);
  const phi1 = -0.5 * (velocity2 * velocity2) * sin2 - velocity2 * velocity1 * sin2 + 1.5 * GRAVITY * Math.cos(theta1 - HALF_PI) + phi2;
  const acceleration2 = (torque + (d2 / d1) * phi1 - 0.5 * (velocity1 * velocity1) * sin2 - phi2) / (1.25 - (d2 * d2) / d1);
  acceleration[0] = -(d2 * acceleration2 + phi1) / d1;
  acceleration[1] = acceleration2;
}

function wrap(angle: number): number {
  let wrapped = angle;
  while (wrapped > Math.PI) wrapped -= 2 * Math.PI;
  while (wrapped < -Math.PI) wrapped += 2 * Math.PI;
  return wrapped;
}

const clamp = (value: number, limit: number): number => Math.min(Math.max(value, -limit), limit);

/** One step of the state at `s[at..]`; writes the observation at `obs[out..]`; returns the flags. */
function advance(s: Float64Array, at: number, action: number, obs: Float32Array, out: number): number {
  const torque = action - 1;
  const a = s[at] as number;
  const b = s[at + 1] as number;
  const c = s[at + 2] as number;
  const d = s[at + 3] as number;
  const half = DT / 2;
  derive(a, b, c, d, torque);
  const c1 = acceleration[0] as number;
  const d1 = acceleration[1] as number;
  const a2 = c + half * c1;
  const b2 = d + half * d1;
  derive(a + half * c, b + half * d, a2, b2, torque);
  const c2 = acceleration[0] as number;
  const d2 = acceleration[1] as number;
  const a3 = c + half * c2;
  const b3 = d + half * d2;
  derive(a + half * a2, b + half * b2, a3, b3, torque);
  const c3 = acceleration[0] as number;
  const d3 = acceleration[1] as number;
  const a4 = c + DT * c3;
  const b4 = d + DT * d3;
  derive(a + DT * a3, b + DT * b3, a4, b4, torque);
  const sixth = DT / 6;
  const theta1 = wrap(a + sixth * (c + 2 * a2 + 2 * a3 + a4));
  const theta2 = wrap(b + sixth * (d + 2 * b2 + 2 * b3 + b4));
  const velocity1 = clamp(c + sixth * (c1 + 2 * c2 + 2 * c3 + (acceleration[0] as number)), MAX_VELOCITY_1);
  const velocity2 = clamp(d + sixth * (d1 + 2 * d2 + 2 * d3 + (acceleration[1] as number)), MAX_VELOCITY_2);
  s[at] = theta1;
  s[at + 1] = theta2;
  s[at + 2] = velocity1;
  s[at + 3] = velocity2;
  const cos1 = observe(theta1, theta2, velocity1, velocity2, obs, out);
  return -cos1 - Math.cos(theta2 + theta1) > 1 ? TERMINATED : 0;
}

/** Returns cos(theta1), which the end test needs as well. */
function observe(theta1: number, theta2: number, velocity1: number, velocity2: number, obs: Float32Array, out: number): number {
  const cos1 = Math.cos(theta1);
  obs[out] = cos1;
  obs[out + 1] = Math.sin(theta1);
  obs[out + 2] = Math.cos(theta2);
  obs[out + 3] = Math.sin(theta2);
  obs[out + 4] = velocity1;
  obs[out + 5] = velocity2;
  return cos1;
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
      const at = slot.index * STATE;
      for (let j = 0; j < STATE; j++) states[at + j] = Math.fround(between(seed.uniform(), -0.1, 0.1));
      observe(
        states[at] as number,
        states[at + 1] as number,
        states[at + 2] as number,
        states[at + 3] as number,
        slot.obs.vector as Float32Array,
        0,
      );
    },
    step(slot: Slot, action): StepResult {
      const ended = advance(states, slot.index * STATE, action as number, slot.obs.vector as Float32Array, 0);
      return { reward: ended === 0 ? -1 : 0, terminated: ended !== 0, truncated: false };
    },
    stepMany(first: number, count: number): void {
      for (let i = first; i < first + count; i++) {
        const ended = advance(states, i * STATE, actions[i * actionStride] as number, plane, (cell[i] as number) * OBS);
        flags[i] = ended;
        reward[i] = ended === 0 ? -1 : 0;
      }
    },
  };
}

export const acrobot: EnvKind = {
  name: 'acrobot',
  version: '1.0.0',
  summary: 'swing a two-link arm over a line (Gymnasium Acrobot-v1): vector f32[6], 3 actions, 500 steps',
  spaces: () => {
    const high = [1, 1, 1, 1, MAX_VELOCITY_1, MAX_VELOCITY_2];
    return classicSpaces(
      high.map((value) => -value),
      high,
      { type: 'discrete', n: 3 },
    );
  },
  timeLimit: () => 500,
  create,
  solvedReturn: -100,
  sources: [import.meta.url],
};
