// Failures of single envs on their way to the supervisor: collected in the step loop, sent in batches, at most one message per
// FLUSH_MS however many envs fail. The first of a batch travel in full, the rest by id.
import type { Breach } from '../contract/env.js';
import type { EnvladderError } from '../contract/errors.js';
import type { EnvFailure } from '../contract/messages.js';

/** Ten messages a second are read by people and cost nothing. */
const FLUSH_MS = 100;
const FULL_PER_BATCH = 32;
/** An env's message may hold anything the env threw. */
const MAX_MESSAGE_CHARS = 2000;

export interface FailureReport {
  add(error: EnvladderError, envId: number, entry: string): void;
  /** Sends what was collected if the last batch is long enough ago, or `now` is left out. */
  flush(nowMs?: number): void;
}

const OPERATIONS: readonly string[] = ['construct', 'reset', 'step', 'close'] satisfies Breach['operation'][];

function failureOf(error: EnvladderError, envId: number, entry: string): EnvFailure {
  const { operation } = error.detail;
  const failure: EnvFailure = {
    envId,
    entry,
    code: error.code,
    operation: typeof operation === 'string' && OPERATIONS.includes(operation) ? (operation as Breach['operation']) : 'step',
    message: error.message.slice(0, MAX_MESSAGE_CHARS),
  };
  return error.code === 'contract' ? { ...failure, breach: error.detail as unknown as Breach } : failure;
}

export function createFailureReport(send: (failures: readonly EnvFailure[], alsoFailed: readonly number[]) => void): FailureReport {
  let full: EnvFailure[] = [];
  let also: number[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    add(error, envId, entry) {
      if (full.length < FULL_PER_BATCH) full.push(failureOf(error, envId, entry));
      else also.push(envId);
    },
    flush(nowMs) {
      if (full.length === 0 || (nowMs !== undefined && nowMs - lastMs < FLUSH_MS)) return;
      lastMs = nowMs ?? lastMs;
      send(full, also);
      full = [];
      also = [];
    },
  };
}
