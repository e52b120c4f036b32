// What a seat remembers of its envs from one life of its worker to the next: who is out, who may not be built again, how often each failed
// and how often it took its worker down. Filled from the worker's messages and deaths, handed to the next life. Bounded by the seat's envs.
import type { EnvFailure, FromWorker, WorkerStart } from '../contract/messages.js';
import type { HealthPlan } from '../contract/plan-health.js';
import { createRestartBudget, type RestartBudget } from './restart-budget.js';

type Failures = Extract<FromWorker, { type: 'env-failures' }>;
type Fate = EnvFailure['fate'];

export interface EnvLedger {
  failed(failures: Failures, nowMs: number): void;
  /** The env was in work when its worker died, and is to blame. True: it is out of its budget and not built again. */
  crashed(envId: number, nowMs: number): boolean;
  /** One of the run of `stepMany` that begins with this env took its worker down: its range is stepped one by one from here. */
  suspect(envId: number): void;
  /** Out by a person's word; `published`: its worker has said so in shared memory already. */
  quarantine(envId: number, published: boolean): void;
  /** Everything held against it is forgotten. */
  release(envId: number): void;
  isOut(envId: number): boolean;
  /** Its part of the next life's start message. */
  forStart(nowMs: number): Pick<WorkerStart, 'barred' | 'retired' | 'failed' | 'slotBySlot'>;
}

/** Failures kept per env: more than any sane budget needs, and a bound for one without. */
const MOST_FAILURES = 1000;

export function idsOf({ failures, also }: Failures, fate: Fate): number[] {
  return [...failures.filter((failure) => failure.fate === fate).map(({ envId }) => envId), ...also[fate]];
}

export function createEnvLedger({ envBudget, crashBudget }: Pick<HealthPlan, 'envBudget' | 'crashBudget'>): EnvLedger {
  /** Their quarantine is published. */
  const retired = new Set<number>();
  /** The next life has to publish it. */
  const barred = new Set<number>();
  const failedAt = new Map<number, number[]>();
  const suspects = new Set<number>();
  const crashes = new Map<number, RestartBudget>();
  return {
    failed(message, nowMs) {
      for (const fate of ['rebuild', 'cool-down', 'quarantine'] as const) {
        for (const envId of idsOf(message, fate)) {
          if (fate === 'quarantine') retired.add(envId);
          const times = failedAt.get(envId) ?? [];
          times.push(nowMs);
          if (times.length > MOST_FAILURES) times.shift();
          failedAt.set(envId, times);
        }
      }
    },
    crashed(envId, nowMs) {
      const budget = crashes.get(envId) ?? createRestartBudget(crashBudget);
      crashes.set(envId, budget);
      if (budget.take(nowMs)) return false;
      barred.add(envId);
      return true;
    },
    suspect: (envId) => void suspects.add(envId),
    quarantine(envId, published) {
      (published ? retired : barred).add(envId);
      if (published) barred.delete(envId);
    },
    release(envId) {
      retired.delete(envId);
      barred.delete(envId);
      failedAt.delete(envId);
      crashes.delete(envId);
    },
    isOut: (envId) => retired.has(envId) || barred.has(envId),
    forStart(nowMs) {
      const failed: [number, number[]][] = [];
      for (const [envId, times] of failedAt) {
        const recent = times.filter((atMs) => nowMs - atMs < envBudget.perSeconds * 1000);
        if (recent.length === 0) failedAt.delete(envId);
        else {
          failedAt.set(envId, recent);
          if (!retired.has(envId)) failed.push([envId, recent]);
        }
      }
      return { retired: [...retired], barred: [...barred].filter((envId) => !retired.has(envId)), failed, slotBySlot: [...suspects] };
    },
  };
}
