// The typed errors of one env that broke: they name env id, kind, operation, key and value.
import type { Breach } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import type { SlotTable } from './slot-table.js';

export type Operation = Breach['operation'];

/** A breach as the error that travels: its detail is the Breach. */
export function contractError(breach: Breach): EnvladderError {
  return new EnvladderError(
    'contract',
    `env ${breach.envId} (${breach.kind}), ${breach.operation}: ${breach.key} is ${breach.value}, ${breach.rule}`,
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

/** An operation that outlived its deadline. */
export function deadlineError(seconds: number): EnvladderError {
  return new EnvladderError('env-failed', `did not finish within ${seconds} s, its deadline`, { detail: { deadlineSeconds: seconds } });
}

/** Wraps what an env threw; errors that already carry a code keep it. */
export function envError(table: SlotTable, index: number, operation: Operation, cause: unknown): EnvladderError {
  if (cause instanceof EnvladderError && cause.code === 'contract') return cause;
  const envId = table.port.spec.firstEnvId + index;
  const slot = table.slots[index];
  const late = cause instanceof EnvladderError && cause.detail.deadlineSeconds !== undefined;
  const what = late ? cause.message : `threw ${cause instanceof Error ? `${cause.name}: ${cause.message}` : describeValue(cause)}`;
  const episode = slot?.episode ?? 0;
  const step = table.steps[index] ?? 0;
  return new EnvladderError('env-failed', `env ${envId} (${table.kindName}): ${operation} ${what} (episode ${episode}, step ${step})`, {
    cause,
    detail: { envId, kind: table.kindName, operation, episode, step },
  });
}
