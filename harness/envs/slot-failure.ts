// What happens when one env breaks: a typed error that names env id, kind, operation, key and value; the slot is closed and
// quarantined, its neighbours go on.
import type { Breach } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import type { SlotTable } from './slot-table.js';

export type Operation = Breach['operation'];

/** A breach as the error that travels: its detail is the Breach. */
export function contractError(breach: Breach): EnvladderError {
  return new EnvladderError(
    'contract',
    `env ${breach.envId} (${breach.kind}), ${breach.operation}: ${breach.key} is ${breach.value}, ${breach.rule}; this env is quarantined`,
    { detail: { ...breach } },
  );
}

/** Any value as short text: `NaN`, `bigint 3n`, `Float64Array[4]`, `array[1]`, `string "x"`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return `bigint ${value}n`;
  if (typeof value === 'string') return `string ${JSON.stringify(value.slice(0, 40))}`;
  if (Array.isArray(value)) return `array[${value.length}]`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}[${(value as Uint8Array).length}]`;
  return typeof value === 'object' ? `object ${value.constructor?.name ?? ''}`.trimEnd() : typeof value;
}

/** Wraps what an env threw; errors that already carry a code keep it. */
export function envError(table: SlotTable, index: number, operation: Operation, cause: unknown): EnvladderError {
  if (cause instanceof EnvladderError && cause.code === 'contract') return cause;
  const envId = table.port.spec.firstEnvId + index;
  const slot = table.slots[index];
  const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : describeValue(cause);
  const episode = slot?.episode ?? 0;
  const step = table.steps[index] ?? 0;
  return new EnvladderError(
    'env-failed',
    `env ${envId} (${table.kindName}): ${operation} threw ${what} (episode ${episode}, step ${step}); this env is quarantined`,
    { cause, detail: { envId, kind: table.kindName, operation, episode, step } },
  );
}

/** Closes a slot's resources. A close that fails is reported, never thrown. */
export async function closeSlot(table: SlotTable, index: number): Promise<void> {
  const slot = table.slots[index];
  if (slot === undefined || table.constructed[index] !== 1) return;
  table.constructed[index] = 0;
  if (table.env.close === undefined) return;
  try {
    await table.env.close(slot);
  } catch (cause) {
    table.onFailure(envError(table, index, 'close', cause), slot.envId);
  }
}

/** Takes one slot out of the run and reports why. The slot must be leased (claimed, or never started). */
export function failSlot(table: SlotTable, index: number, operation: Operation, cause: unknown): void {
  const error = envError(table, index, operation, cause);
  table.port.quarantine(index);
  // close may be async; closeSlot never rejects except through a throwing onFailure, which the report below throws first.
  void closeSlot(table, index).catch(() => undefined);
  table.onFailure(error, table.port.spec.firstEnvId + index);
}
