// Builds the group of one space signature for the chosen mode: its reader, sized for all tiers of the plan, and its agent.
import type { EntryMessage, LearnerStart } from '../contract/messages.js';
import { spaceSignature } from '../contract/spaces.js';
import type { Control } from '../memory/control.js';
import type { Memory, SegmentSpec } from '../memory/interface.js';
import type { Backend } from './backends.js';
import type { Balance } from './balance.js';
import type { EnvStatsTable } from './env-stats.js';
import type { EpisodeStats } from './episode-stats.js';
import type { GuardedUpdateOptions } from './guarded-update.js';
import { noiseKey } from './noise.js';
import { type ObservationPlan, planObservation } from './observation-plan.js';
import type { PhaseClock } from './phase-clock.js';
import { createPlainAgent } from './plain-agent.js';
import { createPolicy, type Policy } from './policy.js';
import { createPpoAgent } from './ppo-agent.js';
import { createSpaceGroup, type SpaceGroup } from './space-group.js';
import type { FaultInjection } from './test-fault.js';

/** Rows of one batch beyond which larger ones bring no speed. */
const MAX_BATCH = 8192;
/** Bytes of one batch: bounds what raw images may cost. */
const MAX_BATCH_BYTES = 512 * 2 ** 20;

export interface GroupContext {
  readonly start: LearnerStart;
  readonly memory: Memory;
  readonly control: Control;
  readonly balance: Balance;
  readonly clock: PhaseClock;
  readonly stats: readonly EpisodeStats[];
  readonly envStats: EnvStatsTable;
  /** Null without a learner. */
  readonly backend: Backend | null;
  readonly gatherThreads: number;
  readonly pause: () => Promise<void>;
  /** Called with each new policy before it acts: a checkpoint fills it here. */
  readonly onPolicy: (policy: Policy) => void;
  readonly onBadUpdate: GuardedUpdateOptions['onBadUpdate'];
  readonly onUnusable: (envId: number) => void;
  /** Null without a fault to inject. */
  readonly faults: FaultInjection | null;
}

/** Slots of the whole plan whose entries have this signature. */
function plannedSlots(start: LearnerStart, signature: string): number {
  let slots = 0;
  for (const { spec, blockEntries } of start.segments) {
    (spec as unknown as SegmentSpec).blocks.forEach((block, i) => {
      const entry = start.entries[blockEntries[i] as number] as EntryMessage;
      if (spaceSignature(entry.spaces) === signature) slots += block.slots;
    });
  }
  return slots;
}

function batchLimitFor(start: LearnerStart, plan: ObservationPlan, slots: number): number {
  const rowBytes = plan.planes.reduce((sum, plane) => sum + plane.columns * (plane.dtype === 'u8' ? 1 : 4), 0);
  const wanted = start.ppo.batch > 0 ? start.ppo.batch : Math.ceil(slots / 2);
  return Math.max(1, Math.min(wanted, slots, MAX_BATCH, Math.floor(MAX_BATCH_BYTES / rowBytes)));
}

/** The group that serves `entry` and all entries with the same spaces. */
export function makeGroup(context: GroupContext, entry: EntryMessage): SpaceGroup {
  const { start, memory, control, balance, clock, stats, envStats, backend, gatherThreads, pause, onBadUpdate, onUnusable, faults } =
    context;
  const { action, observation } = entry.spaces;
  const signature = spaceSignature(entry.spaces);
  const plan = planObservation(observation, start.ppo.encoder);
  const batchLimit = batchLimitFor(start, plan, plannedSlots(start, signature));
  const reader = memory.reader({ batchLimit, outputs: plan.outputs, threads: gatherThreads, stepPeriodMs: start.stepPeriodMs }, control);
  const shared = { action, autoreset: start.autoreset, batchLimit, reader, balance, clock };
  const plain = (mode: 'none' | 'random') => createPlainAgent({ ...shared, mode, noiseKey: noiseKey(start.seed, `actions ${signature}`) });
  const learning = (loaded: Backend) => {
    const made = createPolicy(loaded, signature, action, plan, start.ppo, start.seed);
    const policy = faults === null ? made : { ...made, network: faults.wrap(made.network) };
    context.onPolicy(policy);
    return createPpoAgent({ ...shared, policy, pause, onBadUpdate, onUnusable, onUpdate: faults?.beginUpdate });
  };
  const agent = start.mode === 'ppo' && backend !== null ? learning(backend) : plain(start.mode === 'none' ? 'none' : 'random');
  return createSpaceGroup({
    signature,
    reader,
    agent,
    balance,
    clock,
    entries: start.entries,
    stats,
    envStats,
    batchLimit,
    batch: start.ppo.batch,
  });
}
