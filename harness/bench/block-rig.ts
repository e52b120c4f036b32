// One block in real shared memory with its writer and its reader in this process: times the native calls of the data path one by one,
// without scheduling between two processes.
import type { Control } from '../memory/control.js';
import type { BatchReader, BlockSpec, BlockWriter, Segment } from '../memory/interface.js';
import { createNativeMemory } from '../memory/native-memory.js';
import type { OutputSpec } from '../memory/reader-options.js';
import { planBlocks } from '../supervisor/block-plan.js';
import { createRigPlan, type RigKind } from './rig-plan.js';

/** The order of a frame's life; each call moves to the next. */
export const PHASES = ['claim', 'publish', 'collect', 'act'] as const;
export type Phase = (typeof PHASES)[number];

export interface BlockRig {
  readonly spec: BlockSpec;
  readonly writer: BlockWriter;
  readonly reader: BatchReader;
  readonly segment: Segment;
  readonly control: Control;
  /** Runs the phase that is due, for all slots at once. */
  step(): void;
  /** Runs phases until `phase` is due. */
  advanceTo(phase: Phase): void;
  close(): void;
}

/** Creates the block with all slots active; the first phase due is `claim`. The kind's own code never runs. */
export async function createBlockRig(slots: number, kind: RigKind, outputs: readonly OutputSpec[], threads = 1): Promise<BlockRig> {
  const memory = createNativeMemory();
  const { plan, entries } = await createRigPlan(slots, kind);
  const planned = planBlocks(`bench-block-${process.pid}-${Math.floor(performance.now())}`, plan, entries).segments[0];
  const spec = planned?.spec.blocks[0];
  if (planned === undefined || spec === undefined || spec.slots !== slots)
    throw new Error(`${slots} slots of ${kind.kind} do not fit one block`);
  const control = memory.createControl(1);
  const segment = memory.createSegment(planned.spec);
  segment.allocate(0, 2);
  memory.bindControl(control);
  const writer = segment.writer(0, 1);
  const reader = memory.reader({ batchLimit: slots, outputs, threads }, control);
  reader.add(segment, 0);
  for (let slot = 0; slot < slots; slot++) writer.activate(slot);
  const actions = new (spec.action.dtype === 'i32' ? Int32Array : Float32Array)(slots * spec.action.length);
  let due = 0;
  const expectAll = (phase: Phase, count: number): void => {
    if (count !== slots) throw new Error(`${phase}: ${count} of ${slots} slots`);
  };
  const run: Record<Phase, () => void> = {
    claim: () => expectAll('claim', writer.claim(slots)),
    publish: () => expectAll('publish', writer.publish('sampled')),
    collect: () => expectAll('collect', reader.collect(slots)),
    act: () => reader.act(slots, reader.rowOf, actions),
  };
  const step = (): void => {
    run[PHASES[due] as Phase]();
    due = (due + 1) % PHASES.length;
  };
  return {
    spec,
    writer,
    reader,
    segment,
    control,
    step,
    advanceTo(phase) {
      while (PHASES[due] !== phase) step();
    },
    close() {
      segment.close();
      control.close();
    },
  };
}
