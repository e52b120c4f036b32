// The start message of one life of a worker: the plan's part, the seat's part, and what earlier lives left behind.
import type { WorkerStart } from '../contract/messages.js';
import type { PlannedSegment } from './block-plan.js';
import type { CrewPorts, Launched } from './crew-ports.js';
import type { EnvLedger } from './env-ledger.js';

export interface LifeStart {
  readonly planned: PlannedSegment;
  readonly epoch: number;
  readonly blocks: readonly number[];
  readonly left: ReturnType<EnvLedger['forStart']>;
}

export function workerStart(ports: CrewPorts, { controlFd, errorsFd, segmentFd }: Launched, life: LifeStart): WorkerStart {
  const { options, workers } = ports;
  const { plan } = options;
  return {
    type: 'start',
    role: 'worker',
    runId: options.runId,
    parentPid: process.pid,
    workers,
    controlFd,
    errorsFd,
    seed: plan.seed,
    autoreset: plan.autoreset,
    entries: options.entries,
    worker: life.planned.spec.worker,
    epoch: life.epoch,
    segment: life.planned.spec as unknown as Record<string, unknown>,
    segmentFd,
    check: plan.check,
    constructParallel: plan.constructParallel,
    module: options.module,
    blockEntries: life.planned.entryOf,
    blocks: [...life.blocks],
    ...life.left,
    health: plan.health,
  };
}
