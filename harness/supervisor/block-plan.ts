// Where every env of a plan lives: env ids are dealt tier by tier, mix entry by mix entry, whatever the number of workers; each such
// range is cut contiguously across the workers, and once more where a plane would pass MAX_PLANE_BYTES. Pure; supervisor only.
import { DTYPE_BYTES } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import { MAX_PLANE_BYTES } from '../contract/limits.js';
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import { actionElements, elementCount, type Spaces } from '../contract/spaces.js';
import type { BlockSpec, KeySpec, SegmentSpec } from '../memory/interface.js';
import { apportion } from './apportion.js';

export interface PlannedSegment {
  readonly spec: SegmentSpec;
  /** Mix entry and tier of each block of `spec.blocks`. */
  readonly entryOf: readonly number[];
  readonly tierOf: readonly number[];
}

export interface BlockPlan {
  /** One per worker that has an env in some tier: fewer than plan.workers when there are fewer envs. */
  readonly segments: readonly PlannedSegment[];
  /** Envs per tier (cumulative) and mix entry. */
  readonly entryEnvs: readonly (readonly number[])[];
}

/** The spec of the block with this id; planned segments are small lists. */
export function specOf(planned: PlannedSegment, block: number): BlockSpec {
  const spec = planned.spec.blocks.find(({ id }) => id === block);
  if (spec === undefined) throw new Error(`worker ${planned.spec.worker} has no block ${block}`);
  return spec;
}

type Layout = Pick<BlockSpec, 'keys' | 'action'>;

function layoutOf(spaces: Spaces): Layout {
  const keys = Object.entries(spaces.observation).map(
    ([key, box]): KeySpec => ({
      key,
      dtype: box.dtype,
      elements: elementCount(box.shape),
      shape: box.shape,
      low: box.low,
      high: box.high,
    }),
  );
  const { dtype, length } = actionElements(spaces.action);
  return { keys, action: { dtype: dtype === 'f32' ? 'f32' : 'i32', length } };
}

/** Slots whose largest plane stays within the limit; each slot has its ring of cells and one for `final`. */
function maxSlots(entry: EntryMessage, layout: Layout, cells: number): number {
  const widest = Math.max(...layout.keys.map((key) => key.elements * DTYPE_BYTES[key.dtype]), layout.action.length * 4, 8);
  const slots = Math.floor(MAX_PLANE_BYTES / (widest * (cells + 1)));
  if (slots >= 1) return slots;
  throw new EnvladderError(
    'bad-space',
    `mix entry '${entry.name}': one env needs ${widest * (cells + 1)} bytes in one plane (${cells} cells and a final one), the limit is ${MAX_PLANE_BYTES}; lower cells or the observation's size`,
    { detail: { entry: entry.name, bytes: widest * (cells + 1), limit: MAX_PLANE_BYTES } },
  );
}

/** Cuts `count` things into `parts` contiguous pieces as even as whole numbers allow: [first, size] of each, sizes of 0 left out. */
function cut(count: number, parts: number): { part: number; first: number; size: number }[] {
  const pieces: { part: number; first: number; size: number }[] = [];
  for (let part = 0; part < parts; part++) {
    const first = Math.floor((part * count) / parts);
    const size = Math.floor(((part + 1) * count) / parts) - first;
    if (size > 0) pieces.push({ part, first, size });
  }
  return pieces;
}

/** Lays the whole plan out, all tiers. Throws `bad-space` when one env alone passes the plane limit. */
export function planBlocks(runId: string, plan: Plan, entries: readonly EntryMessage[]): BlockPlan {
  const entryEnvs = apportion(
    plan.mix.map((entry) => entry.share),
    plan.tiers.map((tier) => tier.envs),
  );
  const layouts = entries.map((entry) => layoutOf(entry.spaces));
  const drafts = Array.from({ length: plan.workers }, () => ({
    blocks: [] as BlockSpec[],
    entryOf: [] as number[],
    tierOf: [] as number[],
  }));
  let nextEnvId = 0;
  let nextBlockId = 0;
  for (let tier = 0; tier < plan.tiers.length; tier++) {
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index] as EntryMessage;
      const layout = layouts[index] as Layout;
      const added = (entryEnvs[tier]?.[index] ?? 0) - (entryEnvs[tier - 1]?.[index] ?? 0);
      const most = maxSlots(entry, layout, plan.cells);
      for (const share of cut(added, plan.workers)) {
        const draft = drafts[share.part];
        if (draft === undefined) continue;
        for (const piece of cut(share.size, Math.ceil(share.size / most))) {
          draft.blocks.push({
            id: nextBlockId++,
            kind: entry.kind,
            firstEnvId: nextEnvId + share.first + piece.first,
            slots: piece.size,
            cells: plan.cells,
            ...layout,
            autoreset: plan.autoreset,
          });
          draft.entryOf.push(index);
          draft.tierOf.push(tier);
        }
      }
      nextEnvId += added;
    }
  }
  return {
    entryEnvs,
    segments: drafts
      .filter((draft) => draft.blocks.length > 0)
      .map((draft, worker) => ({
        spec: { runId, worker, blocks: draft.blocks },
        entryOf: draft.entryOf,
        tierOf: draft.tierOf,
      })),
  };
}
