// Everything that shares one space signature: a reader over the blocks of all kinds with these spaces, the agent that answers them, and
// episode statistics per mix entry. The main loop gives it turns; grow and drop happen between turns only.
import type { EntryMessage } from '../contract/messages.js';
import type { BatchReader, Segment } from '../memory/interface.js';
import type { Agent } from './agent.js';
import type { Balance } from './balance.js';
import type { EpisodeStats } from './episode-stats.js';
import type { PhaseClock } from './phase-clock.js';

interface GroupBlock {
  readonly segment: Segment;
  readonly block: number;
  readonly firstRow: number;
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
  drop(segment: Segment, block: number): void;
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
  readonly batchLimit: number;
  /** Largest batch from the plan; 0 = half of the rows. */
  readonly batch: number;
}

export function createSpaceGroup(options: SpaceGroupOptions): SpaceGroup {
  const { signature, reader, agent, balance, clock, stats, batchLimit } = options;
  const blocks: GroupBlock[] = [];
  const totals = { batches: 0, fill: 0 };
  let entryOfRow = new Uint16Array(0);
  let activeRows = 0;
  let lastCount = 0;

  const collect = (limit: number): number => {
    clock.enter('collect');
    lastCount = reader.collect(limit);
    for (let i = 0; i < reader.episodeCount; i++) {
      const row = reader.episodeRow[i] as number;
      stats[entryOfRow[row] as number]?.add(reader.episodeReturn[i] as number, reader.episodeLength[i] as number);
    }
    return lastCount;
  };

  return {
    signature,
    reader,
    agent,
    totals,
    add(segment, block, entry) {
      const spec = segment.spec.blocks.find((candidate) => candidate.id === block);
      if (spec === undefined) throw new Error(`segment of worker ${segment.spec.worker} has no block ${block}`);
      const firstRow = reader.add(segment, block);
      const bigger = new Uint16Array(firstRow + spec.slots);
      bigger.set(entryOfRow);
      entryOfRow = bigger.fill(entry, firstRow);
      agent.addRows(firstRow, spec.slots, spec.firstEnvId);
      blocks.push({ segment, block, firstRow, slots: spec.slots, dropped: false });
      activeRows += spec.slots;
    },
    drop(segment, block) {
      const found = blocks.find((candidate) => candidate.segment === segment && candidate.block === block);
      if (found === undefined || found.dropped) return;
      found.dropped = true;
      activeRows -= found.slots;
      balance.dropped.abandoned += reader.drop(segment, block);
      agent.dropRows(found.firstRow, found.slots);
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
