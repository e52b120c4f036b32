// The start message of one life of the learner: the plan's part, every segment, and where earlier lives stopped counting.
import type { LearnerBase, LearnerStart } from '../contract/messages.js';
import type { PlannedSegment } from './block-plan.js';
import type { CrewPorts } from './crew-ports.js';
import { CONTROL_CHILD_FD, ERRORS_CHILD_FD, FIRST_SEGMENT_FD } from './spawn.js';

export interface LearnerLife {
  readonly life: number;
  readonly base: LearnerBase | null;
  readonly resume: string | null;
  readonly planned: readonly PlannedSegment[];
  readonly adopt: LearnerStart['adopt'];
  readonly lost: NonNullable<LearnerStart['lost']>;
}

export function learnerStart(
  { options, workers }: Pick<CrewPorts, 'options' | 'workers'>,
  { planned, ...life }: LearnerLife,
): LearnerStart {
  const { plan } = options;
  return {
    type: 'start',
    role: 'learner',
    runId: options.runId,
    parentPid: process.pid,
    workers,
    controlFd: CONTROL_CHILD_FD,
    errorsFd: ERRORS_CHILD_FD,
    seed: plan.seed,
    autoreset: plan.autoreset,
    entries: options.entries,
    mode: plan.learner,
    backend: plan.backend,
    segments: planned.map(({ spec, entryOf }, index) => ({
      spec: spec as unknown as Record<string, unknown>,
      fd: FIRST_SEGMENT_FD + index,
      blockEntries: entryOf,
    })),
    ppo: plan.ppo,
    stepPeriodMs: plan.rate === undefined ? 0 : 1000 / plan.rate,
    checkpointDir: options.checkpointDir,
    ...life,
  };
}
