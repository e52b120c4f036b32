// Gathers one LearnerSnapshot from the groups, on top of what the learners before this one had counted. `published` and `taken` come from the control words in shared memory, every fate from the
// agents' own counters: the two meet nowhere but in the sums that the supervisor checks.
import { mergePairs } from '../contract/latency.js';
import type { LearnerBase } from '../contract/messages.js';
import type { LearnerSnapshot, Pairs } from '../contract/snapshot.js';
import type { Balance } from './balance.js';
import type { EpisodeStats } from './episode-stats.js';
import type { PhaseClock } from './phase-clock.js';
import type { Policy } from './policy.js';
import type { SpaceGroup } from './space-group.js';

export interface SnapshotSources {
  readonly groups: readonly SpaceGroup[];
  readonly policies: readonly Policy[];
  readonly balance: Balance;
  readonly clock: PhaseClock;
  readonly entryNames: readonly string[];
  readonly stats: readonly EpisodeStats[];
  readonly nowMs: () => number;
  /** Null in the first life. The balance, the clock and the statistics have their part of it already. */
  readonly base: LearnerBase | null;
  /** Histograms of earlier lives within the measured time; null once they began anew. */
  readonly baseTimes: LearnerTimes | null;
}

export type LearnerTimes = Pick<LearnerSnapshot, 'latency' | 'response' | 'lag'>;

const NO_PAIRS: Pairs = { valueUs: [], count: [], maxUs: 0 };

/** What earlier lives told; null when they told nothing. */
export function timesOf(base: LearnerBase | null): LearnerTimes | null {
  if (base?.latency === undefined) return null;
  return { latency: base.latency, response: base.response ?? NO_PAIRS, lag: base.lag ?? NO_PAIRS };
}

function merged(parts: readonly Pairs[]): Pairs {
  const { value_us: valueUs, count } = mergePairs(parts.map((part) => ({ value_us: part.valueUs, count: part.count })));
  return { valueUs, count, maxUs: parts.reduce((most, { maxUs }) => Math.max(most, maxUs), 0) };
}

export function snapshotOf(sources: SnapshotSources): LearnerSnapshot {
  const { groups, policies, balance, clock, entryNames, stats, nowMs, base, baseTimes } = sources;
  let published = 0;
  let taken = 0;
  let torn = base?.torn ?? 0;
  let outOfOrder = base?.outOfOrder ?? 0;
  let bytesCopied = base?.bytesCopied ?? 0;
  let batches = base?.batches ?? 0;
  let fill = batches * (base?.batchFill ?? 0);
  let updates = base?.updates ?? 0;
  const losses: Record<string, Readonly<Record<string, number>>> = {};
  const over = (name: keyof LearnerTimes): Pairs =>
    merged([...(baseTimes === null ? [] : [baseTimes[name]]), ...groups.map(({ reader }) => reader[name]())]);
  for (const { signature, reader, agent, totals, scan } of groups) {
    const counts = scan();
    const readerStats = reader.stats;
    published += counts.published;
    taken += counts.taken;
    torn += readerStats.torn;
    outOfOrder += readerStats.outOfOrder;
    bytesCopied += readerStats.bytesCopied;
    batches += totals.batches;
    fill += totals.fill;
    updates += agent.updates;
    if (Object.keys(agent.losses).length > 0) losses[signature] = agent.losses;
  }
  return {
    monotonicMs: nowMs(),
    taken,
    trained: balance.trained,
    evaluated: balance.evaluated,
    superseded: balance.superseded,
    dropped: { ...balance.dropped },
    pending: balance.pending,
    published,
    torn,
    outOfOrder,
    bytesCopied,
    batches,
    batchFill: batches === 0 ? 0 : fill / batches,
    updates,
    // Counts on over resumed runs; a restarted learner goes back to that of its checkpoint.
    policyVersion: policies.reduce((sum, policy) => sum + policy.counters.updates, 0),
    phaseSeconds: clock.seconds(),
    kinds: Object.fromEntries(entryNames.map((name, i) => [name, (stats[i] as EpisodeStats).totals()])),
    losses,
    latency: over('latency'),
    response: over('response'),
    lag: over('lag'),
  };
}
