// envladder's side of the dict observation row: the same three keys and the same work per step as FillEnv in drivers/tasks.py, as an env that
// a user brings in a module of their own.
import type { Env, EnvContext, EnvKind, StepResult } from '../../contract/env.js';

const RGB_BYTES = 224 * 224 * 3;
const STATE_FLOATS = 128;
const VECTOR_FLOATS = 64;
/** Bytes of one observation: what each row hands over. */
export const FILL_BYTES = RGB_BYTES + 4 * (STATE_FLOATS + VECTOR_FLOATS);

interface Obs {
  readonly rgb: Uint8Array;
  readonly state: Float32Array;
  readonly vector: Float32Array;
}

function create(context: EnvContext): Env {
  const { capacity, range } = context;
  const counts = new Uint8Array(capacity);
  const planes = range.obs as unknown as Obs;
  const fill = (obs: Obs, index: number, cell: number): void => {
    const count = ((counts[index] as number) + 1) & 255;
    counts[index] = count;
    obs.rgb.fill(count, cell * RGB_BYTES, (cell + 1) * RGB_BYTES);
    obs.state.fill(count / 255, cell * STATE_FLOATS, (cell + 1) * STATE_FLOATS);
    obs.vector.fill(count / 255, cell * VECTOR_FLOATS, (cell + 1) * VECTOR_FLOATS);
  };
  return {
    reset: (slot) => fill(slot.obs as unknown as Obs, slot.index, 0),
    step(slot): StepResult {
      fill(slot.obs as unknown as Obs, slot.index, 0);
      return { reward: 0, terminated: false, truncated: false };
    },
    stepMany(first, count): void {
      for (let i = first; i < first + count; i++) fill(planes, i, range.cell[i] as number);
    },
  };
}

export const kind: EnvKind = {
  name: 'fill',
  version: '1.0.0',
  summary: 'three fills a step: rgb u8[224,224,3], state f32[128], vector f32[64], 2 actions, endless',
  spaces: () => ({
    observation: {
      rgb: { dtype: 'u8', shape: [224, 224, 3], low: 0, high: 255 },
      state: { dtype: 'f32', shape: [STATE_FLOATS], low: -1, high: 1 },
      vector: { dtype: 'f32', shape: [VECTOR_FLOATS], low: -1, high: 1 },
    },
    action: { type: 'discrete', n: 2 },
  }),
  create,
  sources: [import.meta.url],
};
