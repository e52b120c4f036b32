// Checks what an env returns across the contract and copies observations that came as values into the slot's cell. Always on: it is a
// handful of type tests per call. Contents of observations (finite, bounds) are checked when the frame is published.
import { dtypeOf, type TypedArray } from '../contract/dtype.js';
import type { Breach, StepResult } from '../contract/env.js';
import { boundAt } from '../contract/spaces.js';
import { contractError, describeValue, type Operation } from './slot-failure.js';
import type { KeyRule, SlotTable } from './slot-table.js';

const ARRAY_NAMES = { u8: 'Uint8Array', i32: 'Int32Array', f32: 'Float32Array', f64: 'Float64Array' } as const;

function breach(table: SlotTable, index: number, operation: Operation, key: string, value: string, rule: string): never {
  const found: Breach = {
    envId: table.port.spec.firstEnvId + index,
    kind: table.kindName,
    operation,
    key,
    value,
    rule,
  };
  throw contractError(found);
}

/** Copies returned observations into the cell. Throws `contract` unless every declared key, and no other, is there as declared. */
function takeObservations(table: SlotTable, index: number, operation: Operation, obs: Record<string, TypedArray>): void {
  const target = table.slots[index]?.obs as Record<string, TypedArray>;
  if (typeof obs !== 'object' || obs === null) {
    breach(table, index, operation, 'obs', describeValue(obs), 'must be an object of typed arrays, or left out');
  }
  for (const rule of table.keys) {
    const value: unknown = obs[rule.key];
    if (dtypeOf(value) !== rule.dtype || (value as TypedArray).length !== rule.elements) {
      const want = `must be a ${ARRAY_NAMES[rule.dtype]}[${rule.elements}]`;
      breach(table, index, operation, rule.key, describeValue(value), want);
    }
    (target[rule.key] as TypedArray).set(value as TypedArray);
  }
  for (const key in obs) {
    if (target[key] === undefined) {
      breach(table, index, operation, key, 'returned', `is not a declared key (${table.keys.map((rule) => rule.key).join(', ')})`);
    }
  }
}

/** Throws `contract` unless `result` is a StepResult; copies returned observations. */
export function takeStepResult(table: SlotTable, index: number, result: StepResult): void {
  if (typeof result !== 'object' || result === null) {
    breach(table, index, 'step', 'result', describeValue(result), 'must be {reward, terminated, truncated}');
  }
  if (typeof (result as unknown as PromiseLike<unknown>).then === 'function') {
    breach(table, index, 'step', 'result', 'a promise', 'must be returned at once: in-process envs are synchronous');
  }
  const { reward, terminated, truncated, obs } = result;
  if (typeof reward !== 'number' || !Number.isFinite(reward)) {
    breach(table, index, 'step', 'reward', describeValue(reward), 'must be a finite number');
  }
  if (typeof terminated !== 'boolean') {
    breach(table, index, 'step', 'terminated', describeValue(terminated), 'must be true or false');
  }
  if (typeof truncated !== 'boolean') {
    breach(table, index, 'step', 'truncated', describeValue(truncated), 'must be true or false');
  }
  if (obs !== undefined) takeObservations(table, index, 'step', obs);
}

/** Throws `contract` unless `result` is nothing or a ResetResult; copies returned observations. */
export function takeResetResult(table: SlotTable, index: number, result: unknown): void {
  if (result === undefined) return;
  if (typeof result !== 'object' || result === null) {
    breach(table, index, 'reset', 'result', describeValue(result), 'must be nothing or {obs, info}');
  }
  if (typeof (result as PromiseLike<unknown>).then === 'function') {
    breach(table, index, 'reset', 'result', 'a promise', 'must be returned at once: in-process envs are synchronous');
  }
  const { obs } = result as { obs?: Record<string, TypedArray> };
  if (obs !== undefined) takeObservations(table, index, 'reset', obs);
}

/** The first element that is not finite or out of bounds, or undefined. Integer planes whose bounds span the dtype cost nothing. */
export function findBadElement(
  rule: KeyRule,
  view: TypedArray,
): { readonly element: number; readonly value: number; readonly rule: 'finite' | 'bounds' } | undefined {
  if (rule.dtype === 'u8' && rule.low === 0 && rule.high === 255) return undefined;
  // An f32 observation on its bound is the bound rounded to f32.
  const round = rule.dtype === 'f32' ? Math.fround : (bound: number) => bound;
  for (let element = 0; element < view.length; element++) {
    const value = view[element] as number;
    if (!Number.isFinite(value)) return { element, value, rule: 'finite' };
    const outside = value < round(boundAt(rule.low, element)) || value > round(boundAt(rule.high, element));
    if (outside) return { element, value, rule: 'bounds' };
  }
  return undefined;
}

/** The rule of a refused element as a sentence part. */
export function elementRule(keys: readonly KeyRule[], key: string, element: number, rule: 'finite' | 'bounds'): string {
  if (rule === 'finite') return 'must be a finite number';
  const space = keys.find((candidate) => candidate.key === key);
  if (space === undefined) return 'must be within its bounds';
  return `must lie in [${boundAt(space.low, element)}, ${boundAt(space.high, element)}]`;
}
