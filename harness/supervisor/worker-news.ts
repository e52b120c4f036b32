// What a worker says about its envs and itself, turned into events, counts and the seat's memory.
import type { ChildReport, FromWorker } from '../contract/messages.js';
import { type PlannedSegment, specOf } from './block-plan.js';
import { monotonicMs } from './clock.js';
import type { CrewPorts } from './crew-ports.js';
import { type EnvLedger, idsOf } from './env-ledger.js';
import { countEnvs } from './health-counts.js';

export type EnvChanged = Extract<FromWorker, { type: 'env-changed' }>;

export interface WorkerNews {
  readonly report: ChildReport | null;
  hear(message: FromWorker, epoch: number): void;
  /** Answers to `quarantine` and `release`. */
  onReply(listener: (message: EnvChanged) => void): void;
}

export function createWorkerNews(
  { emit, envEvents, counts }: Pick<CrewPorts, 'emit' | 'envEvents' | 'counts'>,
  planned: PlannedSegment,
  ledger: EnvLedger,
): WorkerNews {
  const { worker } = planned.spec;
  const listeners: ((message: EnvChanged) => void)[] = [];
  let report: ChildReport | null = null;
  return {
    get report() {
      return report;
    },
    onReply(listener) {
      listeners.push(listener);
    },
    hear(message, epoch) {
      switch (message.type) {
        case 'block-built': {
          const spec = specOf(planned, message.block);
          const { built, failed, seconds } = message;
          emit({
            type: 'env-created',
            message: `worker ${worker} built ${built} envs of ${spec.kind} in ${seconds.toFixed(3)} s, ${failed} failed`,
            worker,
            detail: { block: message.block, kind: spec.kind, firstEnvId: spec.firstEnvId, built, failed, seconds, epoch },
          });
          return;
        }
        case 'env-failures':
          // One that is out already is told once more by the life that publishes it: its failure was counted when it happened.
          for (const fate of ['rebuild', 'cool-down', 'quarantine'] as const) {
            countEnvs(
              counts.failures,
              idsOf(message, fate).filter((envId) => !ledger.isOut(envId)),
            );
          }
          ledger.failed(message, monotonicMs());
          envEvents.failures(worker, message);
          return;
        case 'env-rebuilt':
          countEnvs(counts.rebuilds, message.envIds);
          envEvents.changed(worker, 'env-rebuilt', message.envIds);
          return;
        case 'env-changed':
          for (const listener of listeners) listener(message);
          return;
        case 'report':
          report = message.report;
          return;
        case 'stopped':
          emit({ type: 'worker-stopped', message: `worker ${worker} stopped after ${message.frames} frames of its life`, worker });
          return;
        case 'ready':
        case 'fatal':
          return;
      }
    },
  };
}
