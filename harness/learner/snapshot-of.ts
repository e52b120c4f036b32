// Gathers one LearnerSnapshot from the groups, on top of what the learners before this one had counted. `published` and `taken` come from the control words in shared memory, every fate from the
// agents' own counters: the two meet nowhere but in the sums that the supervisor checks.
import { mergePairs } from '../contract/latency.js';
import type { LearnerBase } from '../contract/messages.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
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
  /** Latency of earlier lives within the measured time; null once the histogram began anew. */
  readonly baseLatency: LearnerSnapshot['latency'] | null;
}

export function snapshotOf(sources: SnapshotSources): LearnerSnapshot {
  const { groups, policies, balance, clock, entryNames, stats, nowMs, base, baseLatency } = sources;
  let published = 0;
  let taken = 0;
  let torn = base?.torn ?? 0;
  let outOfOrder = base?.outOfOrder ?? 0;
  let bytesCopied = base?.bytesCopied ?? 0;
  let batches = base?.batches ?? 0;
  let fill = batches * (base?.batchFill ?? 0);
  let updates = base?.updates ?? 0;
  let maxUs = baseLatency?.maxUs ?? 0;
  const losses: Record<string, Readonly<Record<string, number>>> = {};
  const histograms = baseLatency === null ? [] : [{ value_us: baseLatency.valueUs, count: baseLatency.count }];
  for (const { signature, reader, agent, totals, scan } of groups) {
    const counts = scan();
    const readerStats = reader.stats;
    const latency = reader.latency();
    published += counts.published;
    taken += counts.taken;
    torn += readerStats.torn;
    outOfOrder += readerStats.outOfOrder;
    bytesCopied += readerStats.bytesCopied;
    batches += totals.batches;
    fill += totals.fill;
    updates += agent.updates;
    if (Object.keys(agent.losses).length > 0) losses[signature] = agent.losses;
    histograms.push({ value_us: latency.valueUs, count: latency.count });
    maxUs = Math.max(maxUs, latency.maxUs);
  }
  const merged = mergePairs(histograms);
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
    latency: { valueUs: merged.value_us, count: merged.count, maxUs },
  };
}
