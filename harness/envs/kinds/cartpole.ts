// CartPole-v1 of Gymnasium 1.4: Barto, Sutton and Anderson (1983), equations of Florian, "Correct equations for the dynamics of the
// cart-pole system" (2007), explicit Euler at 0.02 s. Reward 1 per step, the failing one included; the time limit of 500 is set by
// the harness. State {x, x', theta, theta'} stays f64, the observation is its f32 rounding.
import type { EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { TERMINATED } from '../../contract/frame-flags.js';
import { between, type ClassicEnv, classicSpaces, F32_MAX } from './classic.js';

const STATE = 4;
const GRAVITY = 9.8;
const FORCE = 10;
const TAU = 0.02;
const MASS_POLE = 0.1;
const TOTAL_MASS = MASS_POLE + 1;
/** Half of the pole's length in metres. */
const LENGTH = 0.5;
const POLE_MASS_LENGTH = MASS_POLE * LENGTH;
const INV_TOTAL_MASS = 1 / TOTAL_MASS;
const POLE_MASS_LENGTH_OVER_TOTAL = POLE_MASS_LENGTH / TOTAL_MASS;
/** theta'' = (g sin - cos temp) / (A - B cos^2). */
const A = (LENGTH * 4) / 3;
const B = (LENGTH * MASS_POLE) / TOTAL_MASS;
const X_LIMIT = 2.4;
const THETA_LIMIT = (12 * 2 * Math.PI) / 360;

/** Taylor terms of sin up to x^15: within [-0.5, 0.5] the rest is below 2e-20, less than half an ulp. */
const SMALL_ANGLE = 0.5;
const S3 = -1 / 6;
const S5 = 1 / 120;
const S7 = -1 / 5040;
const S9 = 1 / 362880;
const S11 = -1 / 39916800;
const S13 = 1 / 6227020800;
const S15 = -1 / 1307674368000;

/** One Euler step of the state at `s[at..]`; writes the observation at `obs[out..]`; returns the flags. */
function advance(s: Float64Array, at: number, push: number, obs: Float32Array, out: number): number {
  let x = s[at] as number;
  let xDot = s[at + 1] as number;
  let theta = s[at + 2] as number;
  let thetaDot = s[at + 3] as number;
  let sin: number;
  let cos: number;
  if (theta < SMALL_ANGLE && theta > -SMALL_ANGLE) {
    // A pole that has not fallen is always here. A call to Math.sin and Math.cos would cost more than the rest of the step.
    const q = theta * theta;
    sin = theta + theta * q * (S3 + q * (S5 + q * (S7 + q * (S9 + q * (S11 + q * (S13 + q * S15))))));
    cos = Math.sqrt(1 - sin * sin);
  } else {
    sin = Math.sin(theta);
    cos = Math.cos(theta);
  }
  const temp = (push + POLE_MASS_LENGTH * thetaDot * thetaDot * sin) * INV_TOTAL_MASS;
  const thetaAcc = (GRAVITY * sin - cos * temp) / (A - B * cos * cos);
  const xAcc = temp - POLE_MASS_LENGTH_OVER_TOTAL * thetaAcc * cos;
  x += TAU * xDot;
  xDot += TAU * xAcc;
  theta += TAU * thetaDot;
  thetaDot += TAU * thetaAcc;
  s[at] = x;
  s[at + 1] = xDot;
  s[at + 2] = theta;
  s[at + 3] = thetaDot;
  obs[out] = x;
  obs[out + 1] = xDot;
  obs[out + 2] = theta;
  obs[out + 3] = thetaDot;
  return x < -X_LIMIT || x > X_LIMIT || theta < -THETA_LIMIT || theta > THETA_LIMIT ? TERMINATED : 0;
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
      const out = (cell[slot.index] as number) * STATE;
      for (let j = 0; j < STATE; j++) {
        const value = between(seed.uniform(), -0.05, 0.05);
        states[at + j] = value;
        plane[out + j] = value;
      }
    },
    step(slot: Slot, action): StepResult {
      const push = action === 1 ? FORCE : -FORCE;
      const ended = advance(states, slot.index * STATE, push, slot.obs.vector as Float32Array, 0);
      return { reward: 1, terminated: ended !== 0, truncated: false };
    },
    stepMany(first: number, count: number): void {
      const end = first + count;
      for (let i = first; i < end; i++) {
        const push = actions[i * actionStride] === 1 ? FORCE : -FORCE;
        flags[i] = advance(states, i * STATE, push, plane, (cell[i] as number) * STATE);
        reward[i] = 1;
      }
    },
  };
}

export const cartpole: EnvKind = {
  name: 'cartpole',
  version: '1.0.0',
  summary: 'balance a pole on a cart (Gymnasium CartPole-v1): vector f32[4], 2 actions, 500 steps',
  spaces: () =>
    classicSpaces([-2 * X_LIMIT, -F32_MAX, -2 * THETA_LIMIT, -F32_MAX], [2 * X_LIMIT, F32_MAX, 2 * THETA_LIMIT, F32_MAX], {
      type: 'discrete',
      n: 2,
    }),
  timeLimit: () => 500,
  create,
  solvedReturn: 475,
  sources: [import.meta.url],
};
