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
