// Which seat steps which envs. A seat is a segment, a progress line and one executor: a process of its own, or a thread in a host process.
// Inline entries are dealt over `plan.workers` seats; isolated ones get seats of at most `pack` envs, so that what breaks one takes no more
// with it. Groups that wake in turn are cut out of the same ranges. Pure; used by the block plan alone, which bounds their number (seat-limit.ts).
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import type { GroupsPlan, Isolation } from '../contract/plan-health.js';

/**
 * Envs of an isolated seat when the mix entry does not say. The least power of two with which the account's 7,000 envs fit MAX_WORKERS
 * seats (219), and a Node child of 41 MB (measured) comes to 1.3 MB an env.
 */
export const DEFAULT_PACK = 32;
/** Threads of one host process. What ends the process ends all of them: 16 packs are the price of a sixteenth of the processes. */
export const SEATS_PER_HOST = 16;

/** How a process that is built already waits for its group's turn; null = it has nothing to wait for. */
export type Dormancy = Exclude<GroupsPlan['dormant'], 'not-started'> | null;

/** Envs that go live together, in one seat. */
export interface SeatPiece {
  readonly tier: number;
  /** Index into plan.mix. */
  readonly entry: number;
  /** Index into the plan's groups: a tier that starts in parallel is one group. */
  readonly group: number;
  readonly firstEnvId: number;
  readonly envs: number;
}

export interface Seat {
  readonly executor: 'process' | 'thread';
  readonly isolation: Isolation;
  /** Process the seat lives in: seats with equal numbers are threads of one. Counted from 0 without a gap. */
  readonly host: number;
  readonly dormant: Dormancy;
  /** In the order of their env ids. */
  readonly pieces: readonly SeatPiece[];
}

export interface SeatPlan {
  readonly seats: readonly Seat[];
  /** Tier of each group, in the order in which they wake. */
  readonly groupTiers: readonly number[];
}

interface Draft {
  readonly isolation: Isolation;
  readonly dormant: Dormancy;
  /** Threads with the same mark may share a process. */
  readonly mark: string;
  readonly pieces: SeatPiece[];
}

interface Range {
  readonly first: number;
  readonly size: number;
}

/** Cuts `count` things into `parts` contiguous pieces as even as whole numbers allow, sizes of 0 left out. */
export function cutEvenly(count: number, parts: number): (Range & { part: number })[] {
  const pieces: (Range & { part: number })[] = [];
  for (let part = 0; part < parts; part++) {
    const first = Math.floor((part * count) / parts);
    const size = Math.floor(((part + 1) * count) / parts) - first;
    if (size > 0) pieces.push({ part, first, size });
  }
  return pieces;
}

/** Cuts a range into pieces of `size`, the last one what is left. */
function chunk({ first, size: count }: Range, size: number): Range[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => ({
    first: first + index * size,
    size: Math.min(size, count - index * size),
  }));
}

/** Numbers the processes: one a seat, threads SEATS_PER_HOST to a process of their own kind. */
function settle(drafts: readonly Draft[]): Seat[] {
  let hosts = 0;
  const open = new Map<string, { host: number; seats: number }>();
  return drafts.map(({ isolation, dormant, mark, pieces }) => {
    if (isolation !== 'thread') return { executor: 'process', isolation, dormant, host: hosts++, pieces };
    let at = open.get(mark);
    if (at === undefined || at.seats === SEATS_PER_HOST) {
      at = { host: hosts++, seats: 0 };
      open.set(mark, at);
    }
    at.seats++;
    return { executor: 'thread', isolation, dormant, host: at.host, pieces };
  });
}

/** Seats and groups of the whole plan, however many. `entryEnvs`: envs per tier (cumulative) and mix entry. */
export function planSeats(plan: Plan, entries: readonly EntryMessage[], entryEnvs: readonly (readonly number[])[]): SeatPlan {
  const { start, size, dormant: waits } = plan.groups;
  const inTurn = start === 'groups';
  const dormant = inTurn && waits !== 'not-started' ? waits : null;
  const workers = Array.from({ length: plan.workers }, (): Draft => ({ isolation: 'inline', dormant: null, mark: '', pieces: [] }));
  const apart: Draft[] = [];
  const groupTiers: number[] = [];
  let nextEnvId = 0;

  plan.tiers.forEach((_, tier) => {
    if (!inTurn) groupTiers.push(tier);
    entries.forEach(({ isolation: word }, entry) => {
      const isolation = word === 'thread' || word === 'process' ? word : 'inline';
      const envs = (entryEnvs[tier]?.[entry] ?? 0) - (entryEnvs[tier - 1]?.[entry] ?? 0);
      const all = { first: nextEnvId, size: envs };
      nextEnvId += envs;
      /** Groups of a range, each handed on with its number. */
      const grouped = (range: Range, each: (piece: Range, group: number) => void): void => {
        if (!inTurn) each(range, tier);
        else for (const piece of chunk(range, size)) each(piece, groupTiers.push(tier) - 1);
      };
      const piece = ({ first, size: count }: Range, group: number): SeatPiece => ({ tier, entry, group, firstEnvId: first, envs: count });
      if (isolation === 'inline' && dormant === null) {
        for (const share of cutEvenly(envs, plan.workers)) {
          grouped({ first: all.first + share.first, size: share.size }, (range, group) => {
            workers[share.part]?.pieces.push(piece(range, group));
          });
        }
        return;
      }
      const pack = isolation === 'inline' ? size : (plan.mix[entry]?.pack ?? DEFAULT_PACK);
      grouped(all, (range, group) => {
        for (const share of cutEvenly(range.size, Math.ceil(range.size / pack))) {
          // A frozen process stands still with all of its threads: groups never share one.
          const mark = dormant === null ? String(entry) : `${entry} of ${group}`;
          apart.push({ isolation, dormant, mark, pieces: [piece({ first: range.first + share.first, size: share.size }, group)] });
        }
      });
    });
  });
  return { seats: settle([...workers.filter(({ pieces }) => pieces.length > 0), ...apart]), groupTiers };
}
