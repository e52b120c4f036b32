import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SeedStream } from '../../harness/contract/env.js';
import { DONE, TRUNCATED } from '../../harness/contract/frame-flags.js';
import type { ClassicEnv } from '../../harness/envs/kinds/classic.js';
import { createLocalRange } from '../../harness/envs/local-range.js';
import { createRegistry, resolveKind } from '../../harness/envs/registry.js';
import { createSlotTable } from '../../harness/envs/slot-table.js';
import { type Golden, goldenStateLength, readGolden, readGoldenSpec, setState } from './golden-trajectory.js';

const TOLERANCE = 1e-9;
/**
 * Steps that run free before the state is set to the recorded one. A falling pole and a flailing arm are unstable: one unit in the last
 * place of a sine grows by a factor of e^4 a second (cartpole, 50 steps) whatever the code, so those two are compared in windows.
 */
const FREE_STEPS: Readonly<Record<string, number>> = {
  cartpole: 100,
  'mountain-car': 500,
  'mountain-car-continuous': 500,
  acrobot: 50,
  pendulum: 500,
};
const KINDS = Object.keys(FREE_STEPS);
/** [low, high) of each draw of Gymnasium's reset, in the order of the state; the rest of the state starts at 0. */
const RESET_RANGES: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  cartpole: Array.from({ length: 4 }, () => [-0.05, 0.05] as const),
  'mountain-car': [[-0.6, -0.4]],
  'mountain-car-continuous': [[-0.6, -0.4]],
  acrobot: Array.from({ length: 4 }, () => [-0.1, 0.1] as const),
  pendulum: [
    [-Math.PI, Math.PI],
    [-1, 1],
  ],
};
/** Truncations in each record; mountain-car-continuous has its limit beyond the 500 steps. */
const TRUNCATIONS: Readonly<Record<string, number>> = {
  cartpole: 5,
  'mountain-car': 20,
  'mountain-car-continuous': 0,
  acrobot: 9,
  pendulum: 40,
};
const registry = await createRegistry();

/** The largest difference; NaN if any value of either is NaN or missing, as Math.max keeps NaN and no comparison accepts it. */
function worst(a: ArrayLike<number>, atA: number, b: ArrayLike<number>, atB: number, count: number): number {
  let most = 0;
  for (let j = 0; j < count; j++) most = Math.max(most, Math.abs((a[atA + j] as number) - (b[atB + j] as number)));
  return most;
}

/** A stream whose uniforms are those that make `reset` draw `wanted`: what Gymnasium's generator gave it. */
function drawing(wanted: Float64Array, ranges: readonly (readonly [number, number])[]): SeedStream & { readonly draws: number } {
  let draws = 0;
  const refuse = (): never => assert.fail('reset draws uniforms only');
  return {
    get draws() {
      return draws;
    },
    uniform() {
      const [low, high] = ranges[draws] ?? assert.fail('reset draws too often');
      return ((wanted[draws++] as number) - low) / (high - low);
    },
    u32: refuse,
    normal: refuse,
  };
}

/** Resets into every recorded start. */
function replayStarts(golden: Golden): { state: number; obs: number; starts: number } {
  const kind = resolveKind(registry, golden.kind);
  const port = createLocalRange(kind, { slots: 1 });
  const table = createSlotTable(kind, port, { baseSeed: 0 });
  const env = table.env as ClassicEnv;
  const slot = table.slots[0];
  assert.ok(slot !== undefined);
  const obs = port.views(0, 0).vector as Float32Array;
  const length = goldenStateLength(golden);
  const ranges = RESET_RANGES[golden.kind] ?? [];
  const off = { state: 0, obs: 0, starts: 0 };
  for (const run of golden.runs) {
    for (let episode = 0; episode < run.startStep.length; episode++) {
      const state = run.startState.subarray(episode * length, (episode + 1) * length);
      const stream = drawing(state, ranges);
      obs.fill(Number.NaN);
      env.reset(slot, stream);
      assert.equal(stream.draws, ranges.length);
      off.state = Math.max(off.state, worst(env.states, 0, state, 0, length));
      const wanted = run.startObs ?? Float32Array.from(run.startState);
      off.obs = Math.max(off.obs, worst(obs, 0, wanted, episode * obs.length, obs.length));
      off.starts++;
    }
  }
  return off;
}

/** Replays every run; every `window` steps, and at each episode's start, the state is set to the recorded one. */
function replay(golden: Golden, window: number): { state: number; obs: number; reward: number; flags: number } {
  const kind = resolveKind(registry, golden.kind);
  const port = createLocalRange(kind, { slots: 1 });
  const table = createSlotTable(kind, port, { baseSeed: 0 });
  const env = table.env as ClassicEnv;
  const slot = table.slots[0];
  assert.ok(slot !== undefined);
  const obs = port.views(0, 0).vector as Float32Array;
  const length = goldenStateLength(golden);
  const discrete = kind.spaces.action.type === 'discrete';
  const off = { state: 0, obs: 0, reward: 0, flags: 0 };
  for (const run of golden.runs) {
    let episode = 0;
    for (let step = 0; step < golden.steps; step++) {
      const starts = run.startStep[episode] === step;
      if (starts) {
        setState(env, slot, run.startState.subarray(episode * length, (episode + 1) * length), true);
        episode++;
      } else if (step % window === 0) {
        setState(env, slot, run.state.subarray((step - 1) * length, step * length), false);
      }
      const action = run.action[step] as number;
      const result = env.step(slot, discrete ? action : Float32Array.of(action));
      off.state = Math.max(off.state, worst(env.states, 0, run.state, step * length, length));
      off.reward = Math.max(off.reward, Math.abs(result.reward - (run.reward[step] as number)));
      const wanted = run.obs ?? Float32Array.from(run.state.subarray(step * length, (step + 1) * length));
      off.obs = Math.max(off.obs, worst(obs, 0, wanted, run.obs === undefined ? 0 : step * obs.length, obs.length));
      // The time limit is the harness's, so only `terminated` is compared here; lengths are compared below.
      if (((run.flags[step] as number) & 1) !== Number(result.terminated)) off.flags++;
    }
  }
  return off;
}

describe('golden trajectories of Gymnasium', () => {
  for (const name of KINDS) {
    it(`${name} agrees to 1e-9 in every step taken from the recorded state`, () => {
      // Goal: dynamics, reward and ending of one step are Gymnasium's, in 20 seeds x 500 steps.
      const off = replay(readGolden(name), 1);
      assert.ok(off.state <= TOLERANCE && off.reward <= TOLERANCE, JSON.stringify(off));
      assert.equal(off.flags, 0);
    });
    it(`${name} observes what Gymnasium observes`, () => {
      // Goal: the f32 observation is the recorded one; one unit in the last place is left to the two libraries' sines.
      const off = replay(readGolden(name), 1);
      assert.ok(off.obs <= 1e-6, JSON.stringify(off));
    });
    it(`${name} stays within 1e-9 over free runs of ${FREE_STEPS[name]} steps`, () => {
      // Goal: errors do not build up over a free run.
      const off = replay(readGolden(name), FREE_STEPS[name] as number);
      assert.ok(off.state <= TOLERANCE && off.reward <= TOLERANCE, JSON.stringify(off));
      assert.equal(off.flags, 0);
    });
    it(`${name} has Gymnasium's time limit`, () => {
      // Goal: the kind's timeLimit is the one Gymnasium registers and acts on, and every recorded truncation falls on it, also one on
      // the record's last step.
      const limit = resolveKind(registry, name).timeLimit;
      const spec = readGoldenSpec(name);
      assert.equal(limit, spec.max_episode_steps);
      assert.equal(limit, spec.truncated_after);
      const golden = readGolden(name);
      let truncations = 0;
      for (const run of golden.runs) {
        run.startStep.forEach((start, episode) => {
          const end = run.startStep[episode + 1] ?? golden.steps;
          const flags = run.flags[end - 1] as number;
          if (end < golden.steps) assert.notEqual(flags & DONE, 0);
          if ((flags & TRUNCATED) === 0) return;
          assert.equal(end - start, limit);
          truncations++;
        });
      }
      assert.equal(truncations, TRUNCATIONS[name]);
    });
    it(`${name} resets as Gymnasium does`, () => {
      // Goal: given Gymnasium's draws, reset gives its start state and its first observation, in every recorded episode.
      const golden = readGolden(name);
      const off = replayStarts(golden);
      assert.ok(off.state <= 1e-15 && off.obs <= 1e-7, JSON.stringify(off));
      assert.equal(
        off.starts,
        golden.runs.reduce((sum, run) => sum + run.startStep.length, 0),
      );
      assert.ok(off.starts >= 60);
    });
  }
});
