// Failures and rebuilds of single envs on their way to the supervisor: collected in the step loop, sent in batches, at most once per
// FLUSH_MS however many envs fail. The first failures of a batch travel in full, the rest by id and fate.
import type { EnvladderError } from '../contract/errors.js';
import type { EnvFailure, FromWorker } from '../contract/messages.js';
import { operationOf } from './error-entry.js';

/** Ten messages a second are read by people and cost nothing. */
const FLUSH_MS = 100;
const FULL_PER_BATCH = 32;
/** An env's message may hold anything the env threw. */
const MAX_MESSAGE_CHARS = 2000;

type Failures = Extract<FromWorker, { readonly type: 'env-failures' }>;
type Rebuilt = Extract<FromWorker, { readonly type: 'env-rebuilt' }>;

export interface FailureReport {
  failed(error: EnvladderError, envId: number, entry: string, fate: EnvFailure['fate']): void;
  rebuilt(envId: number): void;
  /** Sends what was collected if the last batch is long enough ago, or `now` is left out. */
  flush(nowMs?: number): void;
}

function failureOf(error: EnvladderError, envId: number, entry: string, fate: EnvFailure['fate']): EnvFailure {
  const failure: EnvFailure = {
    envId,
    entry,
    code: error.code,
    operation: operationOf(error),
    message: error.message.slice(0, MAX_MESSAGE_CHARS),
    fate,
  };
  return error.code === 'contract' ? { ...failure, breach: error.detail as unknown as NonNullable<EnvFailure['breach']> } : failure;
}

export function createFailureReport(send: (message: Failures | Rebuilt) => void): FailureReport {
  let full: EnvFailure[] = [];
  const noneAlso = (): Record<EnvFailure['fate'], number[]> => ({ rebuild: [], 'cool-down': [], quarantine: [] });
  let also = noneAlso();
  /** Envs that step again now: one that failed after it was rebuilt is taken out, so that the order of the two messages tells the truth. */
  const stepping = new Set<number>();
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    failed(error, envId, entry, fate) {
      stepping.delete(envId);
      if (full.length < FULL_PER_BATCH) full.push(failureOf(error, envId, entry, fate));
      else also[fate].push(envId);
    },
    rebuilt: (envId) => void stepping.add(envId),
    flush(nowMs) {
      if ((full.length === 0 && stepping.size === 0) || (nowMs !== undefined && nowMs - lastMs < FLUSH_MS)) return;
      lastMs = nowMs ?? lastMs;
      if (full.length > 0) send({ type: 'env-failures', failures: full, also });
      if (stepping.size > 0) send({ type: 'env-rebuilt', envIds: [...stepping] });
      full = [];
      also = noneAlso();
      stepping.clear();
    },
  };
}
