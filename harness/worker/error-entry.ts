// An env's failure, or a crash of the worker, as the error table keeps it: class, message and frames of what was thrown, not of the
// wrapping that names the env.
import type { ErrorRecord } from '../contract/error-record.js';
import type { EnvladderError } from '../contract/errors.js';
import { OP, type OpName } from '../memory/control.js';

const OPERATIONS = Object.keys(OP) as OpName[];

/** Whatever was thrown, as text. */
export function describeThrown(thrown: unknown): Pick<ErrorRecord, 'message' | 'stack'> {
  if (thrown instanceof Error) return { message: `${thrown.name}: ${thrown.message}`, stack: thrown.stack ?? '' };
  return { message: `thrown ${typeof thrown}: ${String(thrown)}`, stack: '' };
}

/** The operation a failed env's error names; `step` when it names none. */
export function operationOf(error: EnvladderError): Exclude<OpName, 'idle'> {
  const operation = error.detail.operation as OpName;
  return OPERATIONS.includes(operation) && operation !== 'idle' ? operation : 'step';
}

export function errorEntry(error: EnvladderError, envId: number, entry: string): ErrorRecord {
  const operation = operationOf(error);
  if (error.code !== 'contract') return { envId, entry, operation, ...describeThrown(error.cause ?? error) };
  // The frames of a breach are the harness's own: key and rule are what tells one from another.
  const { key, value, rule, kind } = error.detail;
  return {
    envId,
    entry,
    operation,
    message: `contract: ${key} is ${value}, ${rule}`,
    stack: `contract\n    at ${kind} (${operation} ${key})`,
  };
}
