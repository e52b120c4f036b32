// What happens to single envs, as lifecycle events. Failures are told one by one up to a limit a second, and by number beyond it; what becomes
// of the envs is told in one event per fate and flush, with all ids. So thousands of failing envs are a few rows, and no env goes unnamed.
import type { EnvFailure, FromWorker } from '../contract/messages.js';
import type { RunEventType } from '../contract/run-events.js';
import type { CrewEvent } from './crew.js';
import { idsOf } from './env-ledger.js';

type Failures = Extract<FromWorker, { type: 'env-failures' }>;
type Change = 'env-cooling' | 'env-quarantined' | 'env-rebuilt' | 'env-released';

/** Failures told in full within a second: what a person can skim. */
export const FULL_PER_SECOND = 50;
/** Ids named in an event of what may come in any number; quarantines are named all, for they come once per env. */
const MOST_IDS = 1000;
const FLUSH_MS = 250;
const SECOND_MS = 1000;

const SAID: Readonly<Record<Change, string>> = {
  'env-rebuilt': 'built anew and stepping',
  'env-cooling': 'cooling down after too many failures',
  'env-quarantined': 'out of the run',
  'env-released': 'released from quarantine',
};

export interface EnvEvents {
  failures(worker: number, message: Failures): void;
  changed(worker: number, type: Change, envIds: readonly number[]): void;
  /** Tells what has been waiting; call before the last event of a run. */
  flush(): void;
}

export interface EnvEventsPorts {
  readonly emit: (event: CrewEvent) => void;
  readonly now: () => number;
  /** Calls back once, later. Tests drive it by hand. */
  readonly later: (call: () => void, ms: number) => void;
}

const failureType = (operation: EnvFailure['operation']): RunEventType => (operation === 'reset' ? 'reset-failed' : 'env-failed');

export function createEnvEvents({ emit, now, later }: EnvEventsPorts): EnvEvents {
  const changes = new Map<Change, Map<number, number>>();
  let armed = false;
  let secondMs = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  const untoldEnvs = new Set<number>();
  const untoldWorkers = new Set<number>();

  function arm(): void {
    if (armed) return;
    armed = true;
    later(() => {
      armed = false;
      flush();
      if (untold > 0) arm();
    }, FLUSH_MS);
  }

  function tellUntold(): void {
    if (untold === 0) return;
    emit({
      type: 'env-failed',
      message: `${untold} more env failures that are not told one by one`,
      detail: { count: untold, envIds: [...untoldEnvs], workers: [...untoldWorkers] },
    });
    untold = 0;
    untoldEnvs.clear();
    untoldWorkers.clear();
  }

  function note(worker: number, type: Change, envIds: readonly number[]): void {
    if (envIds.length === 0) return;
    const pending = changes.get(type) ?? new Map<number, number>();
    changes.set(type, pending);
    for (const envId of envIds) pending.set(envId, worker);
    arm();
  }

  function tellChanges(): void {
    for (const [type, pending] of changes) {
      const workers = [...new Set(pending.values())];
      const ids = [...pending.keys()];
      const [worker] = workers;
      const whose = workers.length === 1 ? `worker ${worker}` : `${workers.length} workers`;
      emit({
        type,
        message: `${whose}: ${ids.length === 1 ? `env ${ids[0]} is` : `${ids.length} envs are`} ${SAID[type]}`,
        ...(workers.length === 1 && worker !== undefined ? { worker } : {}),
        ...(ids.length === 1 && ids[0] !== undefined ? { envId: ids[0] } : {}),
        detail: { envIds: type === 'env-quarantined' ? ids : ids.slice(0, MOST_IDS), count: ids.length, workers },
      });
    }
    changes.clear();
  }

  function flush(final = false): void {
    tellChanges();
    if (final || now() - secondMs >= SECOND_MS) tellUntold();
  }

  return {
    failures(worker, message) {
      const nowMs = now();
      if (nowMs - secondMs >= SECOND_MS) {
        tellUntold();
        secondMs = nowMs;
        told = 0;
      }
      for (const { envId, entry, code, operation, message: text, breach, fate } of message.failures) {
        if (told >= FULL_PER_SECOND) {
          untold++;
          if (untoldEnvs.size < MOST_IDS) untoldEnvs.add(envId);
          untoldWorkers.add(worker);
          continue;
        }
        told++;
        emit({
          type: failureType(operation),
          message: text,
          worker,
          envId,
          detail: { entry, code, operation, fate, ...(breach === undefined ? {} : { breach }) },
        });
      }
      for (const envIds of Object.values(message.also)) {
        untold += envIds.length;
        for (const envId of envIds) if (untoldEnvs.size < MOST_IDS) untoldEnvs.add(envId);
        if (envIds.length > 0) untoldWorkers.add(worker);
      }
      note(worker, 'env-cooling', idsOf(message, 'cool-down'));
      note(worker, 'env-quarantined', idsOf(message, 'quarantine'));
      if (untold > 0) arm();
    },
    changed: note,
    flush: () => flush(true),
  };
}
