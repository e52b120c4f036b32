// Where every env of a plan lives: env ids are dealt tier by tier, mix entry by mix entry, whatever the number of seats; each such range
// is cut contiguously across seats and groups (seat-plan.ts), and once more where a plane would pass MAX_PLANE_BYTES. Pure; supervisor only.
import { DTYPE_BYTES } from '../contract/dtype.js';
import { EnvladderError } from '../contract/errors.js';
import { MAX_PLANE_BYTES } from '../contract/limits.js';
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import { actionElements, elementCount, type Spaces } from '../contract/spaces.js';
import type { BlockSpec, KeySpec, SegmentSpec } from '../memory/interface.js';
import { apportion } from './apportion.js';
import { refuseTooManySeats } from './seat-limit.js';
import { cutEvenly, planSeats, type Seat } from './seat-plan.js';

/** A seat with its segment; its number is `spec.worker`. */
export interface PlannedSegment extends Pick<Seat, 'executor' | 'isolation' | 'host' | 'dormant'> {
  readonly spec: SegmentSpec;
  /** Mix entry, tier and group of each block of `spec.blocks`. */
  readonly entryOf: readonly number[];
  readonly tierOf: readonly number[];
  readonly groupOf: readonly number[];
}

/** Envs that wake together. A tier that starts in parallel is one group. */
export interface PlannedGroup {
  readonly tier: number;
  readonly envs: number;
  /** [seat, block] of all its blocks, by env id. */
  readonly blocks: readonly (readonly [number, number])[];
}

export interface BlockPlan {
  /** One per seat that has an env in some tier: workers first, then the packs of isolated envs. */
  readonly segments: readonly PlannedSegment[];
  /** In the order in which they wake; those of one tier follow each other. */
  readonly groups: readonly PlannedGroup[];
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

/** Lays the whole plan out, all tiers. Throws `bad-space` when one env alone passes the plane limit, `bad-plan` for too many seats. */
export function planBlocks(runId: string, plan: Plan, entries: readonly EntryMessage[]): BlockPlan {
  const entryEnvs = apportion(
    plan.mix.map((entry) => entry.share),
    plan.tiers.map((tier) => tier.envs),
  );
  const layouts = entries.map((entry) => layoutOf(entry.spaces));
  const most = entries.map((entry, index) => maxSlots(entry, layouts[index] as Layout, plan.cells));
  const { seats, groupTiers } = planSeats(plan, entries, entryEnvs);
  refuseTooManySeats(plan, seats);
  const groups = groupTiers.map((tier) => ({ tier, envs: 0, blocks: [] as [number, number][] }));
  const segments = seats.map(({ executor, isolation, host, dormant }, worker) => ({
    executor,
    isolation,
    host,
    dormant,
    spec: { runId, worker, blocks: [] as BlockSpec[] },
    entryOf: [] as number[],
    tierOf: [] as number[],
    groupOf: [] as number[],
  }));
  const pieces = seats.flatMap((seat, worker) => seat.pieces.map((piece) => ({ ...piece, worker })));
  pieces.sort((a, b) => a.firstEnvId - b.firstEnvId);
  let nextBlockId = 0;
  for (const { worker, tier, entry, group, firstEnvId, envs } of pieces) {
    const segment = segments[worker];
    const layout = layouts[entry];
    if (segment === undefined || layout === undefined) continue;
    for (const { first, size } of cutEvenly(envs, Math.ceil(envs / (most[entry] ?? envs)))) {
      const id = nextBlockId++;
      segment.spec.blocks.push({
        id,
        kind: entries[entry]?.kind ?? '',
        firstEnvId: firstEnvId + first,
        slots: size,
        cells: plan.cells,
        ...layout,
        autoreset: plan.autoreset,
      });
      segment.entryOf.push(entry);
      segment.tierOf.push(tier);
      segment.groupOf.push(group);
      groups[group]?.blocks.push([worker, id]);
    }
    const woken = groups[group];
    if (woken !== undefined) woken.envs += envs;
  }
  return { entryEnvs, segments, groups };
}
