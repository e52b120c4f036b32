// The blocks of one worker: each a range of envs of one kind, its slot table and its writer. Filled when the supervisor says `grow` (or
// at once after a restart); read by the step loop. Bounded by the segment's layout.
import { EnvladderError } from '../contract/errors.js';
import type { EntryMessage, EnvFailure, EnvsOut, WorkerStart } from '../contract/messages.js';
import { closeSlots, constructSlots } from '../envs/construct-slots.js';
import { type Registry, resolveKind } from '../envs/registry.js';
import { createSlotTable, type SlotTable } from '../envs/slot-table.js';
import { OP } from '../memory/control.js';
import type { BlockWriter, Segment, SlotWords } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';
import type { EnvRecovery } from './env-recovery.js';
import { type MendBlock, mendBlock, ownerOf, PHASE, SEAT } from './mend-block.js';
import { type ProgressClock, STAMP } from './progress-clock.js';

export interface WorkerBlock {
  readonly writer: BlockWriter;
  readonly table: SlotTable;
  /** Slots claimed at once; the step loop adapts it. */
  chunk: number;
}

export interface BuiltBlock {
  readonly block: number;
  readonly built: number;
  readonly failed: number;
  readonly seconds: number;
}

export interface EnvTable {
  /** Blocks taken up so far, those still being built included. */
  readonly blocks: readonly WorkerBlock[];
  /** Blocks whose constructors are still at work. */
  readonly building: number;
  /** Takes a block up and builds its envs, bounded-parallel; slots are stepped as soon as they are built. */
  add(block: number): Promise<BuiltBlock>;
  /** Blocks added from here on go by this instead of by the start message. */
  inherit(out: EnvsOut): void;
  /** Mix entry of an env of a block taken up; empty for others. */
  entryOf(envId: number): string;
  /** No further constructor starts, every built env is closed. Failures of `close` are reported, not thrown. */
  close(): Promise<void>;
}

export interface EnvTableOptions {
  readonly start: WorkerStart;
  readonly segment: Segment;
  readonly registry: Registry;
  readonly recovery: EnvRecovery;
  readonly progress: Int32Array;
  readonly clock: ProgressClock;
  /** An env is out, or its `close` failed, without the recovery having a say. */
  readonly onFailure: (error: EnvladderError, envId: number, entry: string, fate: EnvFailure['fate']) => void;
  /** A `stepMany` threw: the range is stepped one by one from here. */
  readonly onRangeThrow: (cause: unknown, envId: number, entry: string) => void;
}

/** One: the first step of a range may take anything, and a hang is dated by the start of its run. Fast kinds double it within a few turns. */
const FIRST_CHUNK = 1;

export function createEnvTable(options: EnvTableOptions): EnvTable {
  const { start, segment, registry, recovery, progress, clock, onFailure } = options;
  let retired: ReadonlySet<number> = new Set(start.retired);
  let barred: ReadonlySet<number> = new Set(start.barred);
  let { slotBySlot } = start;
  const known: MendBlock[] = [];
  const blocks: WorkerBlock[] = [];
  const aborter = new AbortController();
  let building = 0;

  const indexOf = (block: number): number => segment.spec.blocks.findIndex(({ id }) => id === block);

  function slotWords(block: number, { spec: { slots } }: BlockWriter): SlotWords {
    const words: SlotWords = {
      seq: new Float64Array(slots),
      epoch: new Uint32Array(slots),
      owed: new Uint8Array(slots),
      retired: new Uint8Array(slots),
    };
    segment.slotWords(block, words, 0);
    return words;
  }

  const isSuspected = ({ spec: { firstEnvId, slots } }: BlockWriter): boolean =>
    slotBySlot.some((envId) => envId >= firstEnvId && envId < firstEnvId + slots);

  function createTable(entry: EntryMessage, mend: MendBlock): SlotTable {
    const { writer } = mend;
    const kind = resolveKind(registry, entry.kind, entry.config);
    // `create` may load assets for the whole range; if it never returns, the range's first env stands for it.
    clock.stamp(STAMP.op);
    progress[PROGRESS_WORD.envId] = writer.spec.firstEnvId;
    progress[PROGRESS_WORD.op] = OP.construct;
    try {
      return createSlotTable(kind, writer, {
        baseSeed: start.seed,
        epoch: start.epoch,
        progress,
        stamps: clock.stamps,
        clockOffsetMs: clock.offsetMs,
        limits: { constructMs: entry.deadlines.construct * 1000, closeMs: entry.deadlines.close * 1000 },
        onFailure: (error, envId) => onFailure(error, envId, entry.name, 'quarantine'),
        recover: (error, index) => recovery.failed(mend, index, error),
        onRangeThrow: (cause, envId) => options.onRangeThrow(cause, envId, entry.name),
        deferSlow: true,
        ...(isSuspected(writer) ? { slotBySlot: true } : {}),
      });
    } finally {
      progress[PROGRESS_WORD.envId] = -1;
      progress[PROGRESS_WORD.op] = OP.idle;
    }
  }

  /** The kind's `create` serves the whole range: all of it is out, the worker's other blocks are not. */
  function giveUp(entry: EntryMessage, { writer }: MendBlock, cause: unknown): void {
    const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    for (let slot = 0; slot < writer.spec.slots; slot++) {
      const envId = writer.spec.firstEnvId + slot;
      writer.quarantine(slot);
      if (retired.has(envId)) continue;
      const error = new EnvladderError('env-failed', `env ${envId} (${entry.kind}): create threw ${what}; its whole range is quarantined`, {
        cause,
        detail: { envId, kind: entry.kind, operation: 'construct' },
      });
      onFailure(error, envId, entry.name, 'quarantine');
    }
  }

  function sayBarred(entry: EntryMessage, { writer }: MendBlock): void {
    for (let slot = 0; slot < writer.spec.slots; slot++) {
      const envId = writer.spec.firstEnvId + slot;
      if (!barred.has(envId) || retired.has(envId)) continue;
      const message = `env ${envId} (${entry.kind}): it is not built again: its worker died while it was in work, or it was taken out while its worker was away`;
      const detail = { envId, kind: entry.kind, operation: 'construct' };
      onFailure(new EnvladderError('env-failed', message, { detail }), envId, entry.name, 'quarantine');
    }
  }

  async function build(mend: MendBlock, table: SlotTable): Promise<number> {
    building++;
    mend.building = true;
    try {
      return await constructSlots(table, {
        parallel: start.constructParallel,
        signal: aborter.signal,
        wanted: (index) => mend.phase[index] === PHASE.building,
        onActive(index) {
          mend.phase[index] = PHASE.live;
          mend.seat[index] = SEAT.active;
        },
      });
    } finally {
      mend.building = false;
      building--;
    }
  }

  return {
    blocks,
    get building() {
      return building;
    },
    async add(block) {
      const began = performance.now();
      const entry = start.entries[start.blockEntries[indexOf(block)] ?? -1];
      if (entry === undefined) throw new EnvladderError('bad-plan', `worker ${start.worker}: block ${block} has no mix entry`);
      const writer = segment.writer(block, start.epoch);
      const mend = mendBlock(block, entry.name, writer, registry.get(entry.kind)?.kind.rebuild !== false);
      let built = 0;
      try {
        mend.table = createTable(entry, mend);
      } catch (cause) {
        giveUp(entry, mend, cause);
      }
      if (mend.table !== undefined) {
        known.push(mend);
        recovery.enroll(mend, (envId) => barred.has(envId) || retired.has(envId), slotWords(block, writer));
        sayBarred(entry, mend);
        blocks.push({ writer, table: mend.table, chunk: FIRST_CHUNK });
        built = await build(mend, mend.table);
      }
      return { block, built, failed: writer.spec.slots - built, seconds: (performance.now() - began) / 1000 };
    },
    inherit(out) {
      retired = new Set(out.retired);
      barred = new Set(out.barred);
      slotBySlot = out.slotBySlot;
    },
    entryOf: (envId) => ownerOf(known, envId)?.block.entry ?? '',
    async close() {
      aborter.abort();
      recovery.stop();
      for (const { table } of blocks) await closeSlots(table);
    },
  };
}
