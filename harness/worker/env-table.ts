// The blocks of one worker process: each a range of envs of one kind, its slot table and its writer. Filled when the supervisor says
// `grow` (or at once after a restart); read by the step loop. Bounded by the segment's layout.
import type { Env } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import type { WorkerStart } from '../contract/messages.js';
import { closeSlots, constructSlots } from '../envs/construct-slots.js';
import { type Registry, resolveKind } from '../envs/registry.js';
import { createSlotTable, type SlotTable } from '../envs/slot-table.js';
import { type BlockWriter, OP, type Segment } from '../memory/interface.js';
import { PROGRESS_WORD } from '../memory/progress-line.js';

export interface WorkerBlock {
  readonly block: number;
  readonly entry: string;
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
  /** No further constructor starts, every built env is closed. Failures of `close` are reported, not thrown. */
  close(): Promise<void>;
}

export interface EnvTableOptions {
  readonly start: WorkerStart;
  readonly segment: Segment;
  readonly registry: Registry;
  readonly progress: Int32Array;
  /** One env is out of the run. */
  readonly onFailure: (error: EnvladderError, envId: number, entry: string) => void;
}

/** Small enough for a slow kind's first turn, doubled within a few turns for a fast one. */
const FIRST_CHUNK = 16;

/** A stand-in for the env during construction: bars what must not be built, and gives up on promises that never end. */
function guardedEnv(env: Env, start: WorkerStart, barred: ReadonlySet<number>): Env {
  const limitMs = start.constructDeadlineSeconds * 1000;
  return {
    reset: () => undefined,
    step: () => ({ reward: 0, terminated: false, truncated: false }),
    construct(slot) {
      if (barred.has(slot.envId)) {
        throw new EnvladderError('env-failed', `env ${slot.envId}: its worker died while it was in work; it is not built again`);
      }
      const built: unknown = env.construct?.(slot);
      if (!(built instanceof Promise)) return;
      return new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new EnvladderError('env-failed', `did not finish within ${start.constructDeadlineSeconds} s (stepDeadlineSeconds)`));
        }, limitMs);
        built.then(() => resolve(), reject).finally(() => clearTimeout(timer));
      });
    },
  };
}

export function createEnvTable(options: EnvTableOptions): EnvTable {
  const { start, segment, registry, progress, onFailure } = options;
  const retired = new Set(start.retired);
  const barred = new Set([...start.barred, ...start.retired]);
  const blocks: WorkerBlock[] = [];
  const aborter = new AbortController();
  let building = 0;

  const indexOf = (block: number): number => segment.spec.blocks.findIndex(({ id }) => id === block);

  function open(block: number): WorkerBlock | undefined {
    const entry = start.entries[start.blockEntries[indexOf(block)] ?? -1];
    if (entry === undefined) throw new EnvladderError('bad-plan', `worker ${start.worker}: block ${block} has no mix entry`);
    const writer = segment.writer(block, start.epoch);
    const report = (error: EnvladderError, envId: number): void => {
      if (!retired.has(envId)) onFailure(error, envId, entry.name);
    };
    const kind = resolveKind(registry, entry.kind, entry.config);
    // `create` may load assets for the whole range; if it never returns, the range's first env stands for it.
    progress[PROGRESS_WORD.envId] = writer.spec.firstEnvId;
    progress[PROGRESS_WORD.op] = OP.construct;
    try {
      const table = createSlotTable(kind, writer, {
        baseSeed: start.seed,
        epoch: start.epoch,
        progress,
        onFailure: report,
        deferSlow: true,
      });
      return { block, entry: entry.name, writer, table, chunk: FIRST_CHUNK };
    } catch (cause) {
      // The kind's `create` serves the whole range: all of it is out, the worker's other blocks are not.
      const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      for (let slot = 0; slot < writer.spec.slots; slot++) {
        const envId = writer.spec.firstEnvId + slot;
        writer.quarantine(slot);
        report(
          new EnvladderError('env-failed', `env ${envId} (${entry.kind}): create threw ${what}; its whole range is quarantined`, {
            cause,
            detail: { envId, kind: entry.kind, operation: 'construct' },
          }),
          envId,
        );
      }
      return undefined;
    } finally {
      progress[PROGRESS_WORD.envId] = -1;
      progress[PROGRESS_WORD.op] = OP.idle;
    }
  }

  return {
    blocks,
    get building() {
      return building;
    },
    async add(block) {
      const began = performance.now();
      const opened = open(block);
      if (opened === undefined) {
        const failed = segment.spec.blocks[indexOf(block)]?.slots ?? 0;
        return { block, built: 0, failed, seconds: (performance.now() - began) / 1000 };
      }
      blocks.push(opened);
      const { table } = opened;
      const { firstEnvId, slots } = table.port.spec;
      const someBarred = [...barred].some((envId) => envId >= firstEnvId && envId < firstEnvId + slots);
      const guarded = table.env.construct !== undefined || someBarred;
      building++;
      try {
        const built = await constructSlots(guarded ? { ...table, env: guardedEnv(table.env, start, barred) } : table, {
          parallel: start.constructParallel,
          signal: aborter.signal,
        });
        return { block, built, failed: slots - built, seconds: (performance.now() - began) / 1000 };
      } finally {
        building--;
      }
    },
    async close() {
      aborter.abort();
      for (const { table } of blocks) await closeSlots(table);
    },
  };
}
