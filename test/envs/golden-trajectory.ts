// Reads a golden trajectory and the time limits of test/golden, and sets a kind's exact state for the golden tests.
import { readFileSync } from 'node:fs';
import type { Slot } from '../../harness/contract/env.js';
import type { ClassicEnv } from '../../harness/envs/kinds/classic.js';

export interface GoldenRun {
  readonly seed: number;
  readonly startStep: readonly number[];
  readonly startState: Float64Array;
  readonly action: Uint8Array | Float32Array;
  readonly state: Float64Array;
  readonly reward: Float32Array | Float64Array;
  readonly flags: Uint8Array;
  /** Observations after the steps and, in `startObs`, of each episode's reset; undefined: they are the state rounded to f32. */
  readonly obs: Float32Array | undefined;
  readonly startObs: Float32Array | undefined;
}

export interface Golden {
  readonly kind: string;
  readonly steps: number;
  readonly madeWith: string;
  readonly runs: readonly GoldenRun[];
}

type Json = Record<string, string> & { seed: number; start_step: number[] };

function bytes(text: string): ArrayBuffer {
  const buffer = Buffer.from(text, 'base64');
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength) as ArrayBuffer;
}

export function readGolden(kind: string): Golden {
  const file = new URL(`../golden/${kind}.json`, import.meta.url);
  const json = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string> & { steps: number; runs: Json[] };
  const typed = (text: string, type: string): Uint8Array | Float32Array | Float64Array =>
    type === 'u1' ? new Uint8Array(bytes(text)) : type === 'f4' ? new Float32Array(bytes(text)) : new Float64Array(bytes(text));
  return {
    kind,
    steps: json.steps,
    madeWith: json.made_with as string,
    runs: (json.runs as unknown as Json[]).map((run) => ({
      seed: run.seed,
      startStep: run.start_step,
      startState: new Float64Array(bytes(run.start_state as string)),
      action: typed(run.action as string, json.action_type as string) as Uint8Array | Float32Array,
      state: new Float64Array(bytes(run.state as string)),
      reward: typed(run.reward as string, json.reward_type as string) as Float32Array | Float64Array,
      flags: new Uint8Array(bytes(run.flags as string)),
      obs: run.obs === undefined ? undefined : new Float32Array(bytes(run.obs)),
      startObs: run.start_obs === undefined ? undefined : new Float32Array(bytes(run.start_obs)),
    })),
  };
}

export interface GoldenSpec {
  readonly id: string;
  /** What Gymnasium registers. */
  readonly max_episode_steps: number;
  /** Steps of an episode that ran into it. */
  readonly truncated_after: number;
}

/** Gymnasium's time limit of a kind. */
export function readGoldenSpec(kind: string): GoldenSpec {
  const json = JSON.parse(readFileSync(new URL('../golden/specs.json', import.meta.url), 'utf8')) as { kinds: Record<string, GoldenSpec> };
  return json.kinds[kind] as GoldenSpec;
}

/** Doubles of state that Gymnasium has; a kind may keep more behind them. */
export function goldenStateLength(golden: Golden): number {
  return (golden.runs[0] as GoldenRun).state.length / golden.steps;
}

/** Puts a recorded state into slot 0. `fresh`: right after a reset (mountain-car-continuous is still f64 then). */
export function setState(env: ClassicEnv, slot: Slot, values: ArrayLike<number>, fresh: boolean): void {
  const at = slot.index * env.stateLength;
  for (let j = 0; j < values.length; j++) env.states[at + j] = values[j] as number;
  if (env.stateLength > values.length) env.states[at + values.length] = fresh ? 1 : 0;
}
