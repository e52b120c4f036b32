// Everything that shares one space signature: a reader over the blocks of all kinds with these spaces, the agent that answers them, and
// episode statistics per mix entry and env. The main loop gives it turns; grow, drop, release and replace happen between turns only.
import { ABANDONED, DONE, FIRST, QUARANTINED } from '../contract/frame-flags.js';
import type { EntryMessage } from '../contract/messages.js';
import type { BatchReader, Segment } from '../memory/interface.js';
import type { Agent } from './agent.js';
import type { Balance } from './balance.js';
import type { EnvStatsTable } from './env-stats.js';
import type { EpisodeStats } from './episode-stats.js';
import type { PhaseClock } from './phase-clock.js';

/** Frames at which an episode ends, begins or is lost. */
const EDGE = FIRST | DONE | ABANDONED | QUARANTINED;

interface GroupBlock {
  segment: Segment;
  readonly block: number;
  readonly firstRow: number;
  readonly firstEnvId: number;
  readonly slots: number;
  dropped: boolean;
}

export interface SpaceGroup {
  readonly signature: string;
  readonly reader: BatchReader;
  readonly agent: Agent;
  /** Frames of the last batch, and of all; batches; sum of each batch's share of its limit. */
  readonly totals: { batches: number; fill: number };
  add(segment: Segment, block: number, entry: number): void;
  /** Likewise, of a block whose envs are in the middle of episodes: those are not reported when they end, for their beginnings are unknown. */
  adopt(segment: Segment, block: number, entry: number): void;
  drop(segment: Segment, block: number): void;
  /** A block that was given up before this learner came: part of the sums, never read. */
  addLost(segment: Segment, block: number): void;
  /** Takes the env's row in again after its quarantine; false when the env is not read here. */
  release(envId: number): boolean;
  /** Reads `to` in place of `from` from here on. */
  replace(from: Segment, to: Segment): void;
  /** Takes and answers one batch; returns its size. `newest` rows are those at or above the given one: tells whether one was in it. */
  turn(): number;
  /** Whether the last batch held a frame of a row at or above `firstRow`. */
  sawRowFrom(firstRow: number): boolean;
  /** At stop: takes what is published, settles it without an answer, and closes the books. */
  finish(): void;
  /** Sums over the control words of all blocks ever added. */
  scan(): { published: number; taken: number };
}

export interface SpaceGroupOptions {
  readonly signature: string;
  readonly reader: BatchReader;
  readonly agent: Agent;
  readonly balance: Balance;
  readonly clock: PhaseClock;
  readonly entries: readonly EntryMessage[];
  /** By entry index; shared over groups. */
  readonly stats: readonly EpisodeStats[];
  /** Shared over groups. */
  readonly envStats: EnvStatsTable;
  readonly batchLimit: number;
  /** Largest batch from the plan; 0 = half of the rows. */
  readonly batch: number;
}

export function createSpaceGroup(options: SpaceGroupOptions): SpaceGroup {
  const { signature, reader, agent, balance, clock, stats, envStats, batchLimit } = options;
  const blocks: GroupBlock[] = [];
  const totals = { batches: 0, fill: 0 };
  let entryOfRow = new Uint16Array(0);
  let placeOfRow = new Int32Array(0);
  /** 1: the row's running episode began before this learner came. */
  let midway = new Uint8Array(0);
  let midwayRows = 0;
  let activeRows = 0;
  let lastCount = 0;

  const collect = (limit: number): number => {
    clock.enter('collect');
    lastCount = reader.collect(limit);
    for (let i = 0; i < reader.episodeCount; i++) {
      const row = reader.episodeRow[i] as number;
      if (midway[row] === 1) continue;
      const episodeReturn = reader.episodeReturn[i] as number;
      const length = reader.episodeLength[i] as number;
      stats[entryOfRow[row] as number]?.add(episodeReturn, length);
      envStats.add(placeOfRow[row] as number, episodeReturn, length);
    }
    if (midwayRows > 0) {
      for (let i = 0; i < lastCount; i++) {
        if (((reader.flags[i] as number) & EDGE) !== 0) endMidway(reader.rowOf[i] as number);
      }
    }
    return lastCount;
  };
  const endMidway = (row: number): void => {
    midwayRows -= midway[row] as number;
    midway[row] = 0;
  };

  const specOf = (segment: Segment, block: number) => {
    const spec = segment.spec.blocks.find((candidate) => candidate.id === block);
    if (spec === undefined) throw new Error(`segment of worker ${segment.spec.worker} has no block ${block}`);
    return spec;
  };

  const add = (segment: Segment, block: number, entry: number): void => {
    const spec = specOf(segment, block);
    const firstRow = reader.add(segment, block);
    const bigger = new Uint16Array(firstRow + spec.slots);
    bigger.set(entryOfRow);
    entryOfRow = bigger.fill(entry, firstRow);
    const place = envStats.addEnvs(spec.firstEnvId, spec.slots);
    const places = new Int32Array(firstRow + spec.slots);
    places.set(placeOfRow);
    for (let i = 0; i < spec.slots; i++) places[firstRow + i] = place + i;
    placeOfRow = places;
    agent.addRows(firstRow, spec.slots, spec.firstEnvId, options.entries[entry]?.name);
    blocks.push({ segment, block, firstRow, firstEnvId: spec.firstEnvId, slots: spec.slots, dropped: false });
    activeRows += spec.slots;
    const more = new Uint8Array(firstRow + spec.slots);
    more.set(midway);
    midway = more;
  };

  return {
    signature,
    reader,
    agent,
    totals,
    add,
    adopt(segment, block, entry) {
      const firstRow = reader.rows;
      add(segment, block, entry);
      midway.fill(1, firstRow);
      midwayRows += midway.length - firstRow;
    },
    drop(segment, block) {
      const found = blocks.find((candidate) => candidate.segment === segment && candidate.block === block);
      if (found === undefined || found.dropped) return;
      found.dropped = true;
      activeRows -= found.slots;
      balance.dropped.abandoned += reader.drop(segment, block);
      agent.dropRows(found.firstRow, found.slots);
      for (let row = found.firstRow; row < found.firstRow + found.slots; row++) endMidway(row);
    },
    addLost(segment, block) {
      const { firstEnvId, slots } = specOf(segment, block);
      envStats.addEnvs(firstEnvId, slots);
      blocks.push({ segment, block, firstRow: reader.rows, firstEnvId, slots, dropped: true });
    },
    release(envId) {
      const found = blocks.find(({ firstEnvId, slots, dropped }) => !dropped && envId >= firstEnvId && envId < firstEnvId + slots);
      if (found === undefined) return false;
      reader.release(found.firstRow + envId - found.firstEnvId);
      return true;
    },
    replace(from, to) {
      const ours = blocks.filter(({ segment }) => segment === from);
      if (ours.some(({ dropped }) => !dropped)) reader.replace(from, to);
      for (const block of ours) block.segment = to;
    },
    turn() {
      if (activeRows === 0) return 0;
      const limit = Math.min(batchLimit, options.batch > 0 ? options.batch : Math.ceil(activeRows / 2));
      const count = collect(limit);
      if (count === 0) return 0;
      totals.batches++;
      totals.fill += count / limit;
      agent.answer(count);
      return count;
    },
    sawRowFrom(firstRow) {
      for (let i = 0; i < lastCount; i++) if ((reader.rowOf[i] as number) >= firstRow) return true;
      return false;
    },
    finish() {
      // A slot has at most one unanswered frame and nothing is answered here, so this ends after one frame per row.
      for (let count = collect(batchLimit); count > 0; count = collect(batchLimit)) agent.settle(count);
      agent.finish();
    },
    scan() {
      let published = 0;
      let taken = 0;
      for (const { segment, block } of blocks) {
        const counts = segment.scan(block);
        published += counts.published;
        taken += counts.taken;
      }
      return { published, taken };
    },
  };
}
