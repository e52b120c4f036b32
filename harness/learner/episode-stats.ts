// Episode statistics of one mix entry: totals since the run began and means over the last 100 episodes. Fed from the reader's episode
// lists (which count agent steps only), read by snapshots.
import type { KindTotals } from '../contract/snapshot.js';

/** The window that "mean return over the last 100 episodes" means everywhere in RL. */
const RECENT_EPISODES = 100;

export interface EpisodeStats {
  add(episodeReturn: number, length: number): void;
  totals(): KindTotals;
}

/** Totals count on from `base`, those of a learner that died; until an episode ends here, its recent means stand for ours. */
export function createEpisodeStats(base?: KindTotals): EpisodeStats {
  const returns = new Float64Array(RECENT_EPISODES);
  const lengths = new Float64Array(RECENT_EPISODES);
  let episodes = 0;
  let returnSum = 0;
  let lengthSum = 0;
  const recentMean = (ring: Float64Array): number | null => {
    const count = Math.min(episodes, RECENT_EPISODES);
    if (count === 0) return null;
    let sum = 0;
    for (let i = 0; i < count; i++) sum += ring[i] as number;
    return sum / count;
  };
  return {
    add(episodeReturn, length) {
      returns[episodes % RECENT_EPISODES] = episodeReturn;
      lengths[episodes % RECENT_EPISODES] = length;
      episodes++;
      returnSum += episodeReturn;
      lengthSum += length;
    },
    totals() {
      return {
        episodes: episodes + (base?.episodes ?? 0),
        returnSum: returnSum + (base?.returnSum ?? 0),
        lengthSum: lengthSum + (base?.lengthSum ?? 0),
        recentReturn: recentMean(returns) ?? base?.recentReturn ?? null,
        recentLength: recentMean(lengths) ?? base?.recentLength ?? null,
      };
    },
  };
}
