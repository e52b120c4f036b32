// `field`: the account's three shapes in one kind. An agent seeks targets on a 224 x 224 RGB field that is drawn at each step; `state`
// and `vector` describe the same scene in numbers, so that any encoder can learn it. Reward: approach to the nearest target, +1 per catch.
import type { Env, EnvContext, EnvKind, SeedStream, Slot, StepResult } from '../../contract/env.js';
import { advanceField, EPISODE_STEPS, FIELD_PX, ROW, startField } from './field-state.js';
import { describeState, describeVector, drawField, RGB_BYTES, STATE_FLOATS, VECTOR_FLOATS } from './field-view.js';

function create(context: EnvContext): Env {
  const { capacity, range } = context;
  const rows = new Float64Array(capacity * ROW.length);
  /** The slot's stream of this episode: caught targets come back at places drawn from it. */
  const seeds: SeedStream[] = new Array(capacity);
  const { cell, reward, flags, actionStride } = range;
  const planes = range.obs as { rgb: Uint8Array; state: Float32Array; vector: Float32Array };
  const actions = range.action as Int32Array;
  const show = (index: number, obs: typeof planes, cellOf: number): void => {
    const at = index * ROW.length;
    drawField(rows, at, obs.rgb, cellOf * RGB_BYTES);
    describeState(rows, at, obs.state, cellOf * STATE_FLOATS);
    describeVector(rows, at, obs.vector, cellOf * VECTOR_FLOATS);
  };
  return {
    reset(slot: Slot, seed: SeedStream): void {
      seeds[slot.index] = seed;
      startField(rows, slot.index * ROW.length, seed);
      show(slot.index, slot.obs as typeof planes, 0);
    },
    step(slot: Slot, action): StepResult {
      const gained = advanceField(rows, slot.index * ROW.length, action as number, seeds[slot.index] as SeedStream);
      show(slot.index, slot.obs as typeof planes, 0);
      return { reward: gained, terminated: false, truncated: false };
    },
    stepMany(first: number, count: number): void {
      for (let i = first; i < first + count; i++) {
        reward[i] = advanceField(rows, i * ROW.length, actions[i * actionStride] as number, seeds[i] as SeedStream);
        flags[i] = 0;
        show(i, planes, cell[i] as number);
      }
    },
  };
}

export const field: EnvKind = {
  name: 'field',
  version: '1.0.0',
  summary: 'seek targets on a drawn field: rgb u8[224,224,3], state f32[128], vector f32[64], 5 actions, 128 steps',
  spaces: () => ({
    observation: {
      rgb: { dtype: 'u8', shape: [FIELD_PX, FIELD_PX, 3], low: 0, high: 255 },
      state: { dtype: 'f32', shape: [STATE_FLOATS], low: -1, high: 1 },
      vector: { dtype: 'f32', shape: [VECTOR_FLOATS], low: -1, high: 1 },
    },
    action: { type: 'discrete', n: 5 },
  }),
  timeLimit: () => EPISODE_STEPS,
  create,
  // Random play returns 0.4, always heading for the nearest target 27.
  solvedReturn: 20,
  sources: [import.meta.url, new URL('./field-state.js', import.meta.url).href, new URL('./field-view.js', import.meta.url).href],
};
