// A well-behaved small env kind, and how to break it in one place at a time.
import type { Env, EnvContext, EnvKind, Slot, StepResult } from '../../harness/contract/env.js';
import { parseSpaces } from '../../harness/contract/spaces.js';
import { createLocalRange, type LocalRange } from '../../harness/envs/local-range.js';
import type { ResolvedKind } from '../../harness/envs/registry.js';
import { createSlotTable, type SlotTable, type SlotTableOptions } from '../../harness/envs/slot-table.js';

export interface Hooks {
  construct?: (slot: Slot) => void | Promise<void>;
  reset?: (slot: Slot) => unknown;
  step?: (slot: Slot, result: StepResult) => unknown;
  stepMany?: (first: number, count: number, context: EnvContext) => void;
  close?: (slot: Slot) => void | Promise<void>;
}

/** A kind with observation vector f32[4] in [-10, 10]; hooks run after the well-behaved part and may replace its result. */
export function brokenKind(hooks: Hooks, extra: Partial<EnvKind> = {}): ResolvedKind {
  const create = (context: EnvContext): Env => {
    const env: Env = {
      reset(slot, seed) {
        (slot.obs.vector as Float32Array).fill(seed.uniform());
        return hooks.reset?.(slot) as undefined;
      },
      step(slot) {
        (slot.obs.vector as Float32Array).fill(0.5);
        const result: StepResult = { reward: 1, terminated: false, truncated: false };
        return (hooks.step === undefined ? result : hooks.step(slot, result)) as StepResult;
      },
    };
    if (hooks.construct !== undefined) env.construct = hooks.construct;
    if (hooks.close !== undefined) env.close = hooks.close;
    const many = hooks.stepMany;
    if (many !== undefined) env.stepMany = (first, count) => many(first, count, context);
    return env;
  };
  const kind: EnvKind = {
    name: 'broken',
    version: '1.0.0',
    summary: 'for tests',
    spaces: () => ({
      observation: { vector: { dtype: 'f32', shape: [4], low: -10, high: 10 } },
      action: { type: 'discrete', n: 2 },
    }),
    create,
    sources: [import.meta.url],
    ...extra,
  };
  return { kind, origin: 'test', config: {}, spaces: parseSpaces('broken', kind.spaces({})), timeLimit: kind.timeLimit?.({}) };
}

export interface Bench {
  readonly port: LocalRange;
  readonly table: SlotTable;
  readonly failures: { readonly envId: number; readonly error: Error & { code?: string; detail?: Record<string, unknown> } }[];
}

/** A range of `slots` envs from env id 100 on, failures collected. */
export function openRange(kind: ResolvedKind, slots: number, options: Partial<SlotTableOptions> = {}): Bench {
  const port = createLocalRange(kind, { slots, firstEnvId: 100 });
  const failures: Bench['failures'] = [];
  const table = createSlotTable(kind, port, {
    baseSeed: 1,
    onFailure: (error, envId) => failures.push({ envId, error: error as Bench['failures'][number]['error'] }),
    ...options,
  });
  return { port, table, failures };
}
