// What a child reported as `fatal`, turned back into the error it was. Only causes that another start cannot cure end the run.
import { EnvladderError, ERROR_EXIT, type ErrorCode } from '../contract/errors.js';

/** A restarted worker would meet these again. */
const INCURABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'bad-plan',
  'bad-kind',
  'bad-module',
  'bad-space',
  'bad-segment',
  'backend-missing',
  'bad-checkpoint',
  'native-missing',
  'run-folder',
]);

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_EXIT, code);
}

export function childError(code: string, message: string, otherwise: ErrorCode): EnvladderError {
  return new EnvladderError(isErrorCode(code) ? code : otherwise, message);
}

export function isIncurable(code: string): boolean {
  return isErrorCode(code) && INCURABLE.has(code);
}

/** A worker's death as the error that ends a start or a run: its own word, or what the kernel and its last output say. */
export function workerDeathError(
  worker: number,
  life: { readonly isReady: boolean; readonly fatal: EnvladderError | null },
  cause: string,
  output: string,
): EnvladderError {
  const when = life.isReady ? '' : ' before it was ready';
  return life.fatal ?? new EnvladderError('worker-died', `worker ${worker} died (${cause})${when}: ${output.trim().slice(-500)}`);
}

export function runBudgetError(
  { restarts, perSeconds }: { readonly restarts: number; readonly perSeconds: number },
  last: Error,
): EnvladderError {
  return new EnvladderError(
    'worker-died',
    `more than ${restarts} restarts of workers within ${perSeconds} s (health.runBudget); the last: ${last.message}`,
    { cause: last },
  );
}
