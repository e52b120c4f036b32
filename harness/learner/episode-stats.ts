// Episode statistics of one mix entry: totals since the start and means over the last 100 episodes. Fed from the reader's episode lists
// (which count agent steps only), read by snapshots.
import type { KindTotals } from '../contract/snapshot.js';

/** The window that "mean return over the last 100 episodes" means everywhere in RL. */
const RECENT_EPISODES = 100;

export interface EpisodeStats {
  add(episodeReturn: number, length: number): void;
  totals(): KindTotals;
}

export function createEpisodeStats(): EpisodeStats {
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
      return { episodes, returnSum, lengthSum, recentReturn: recentMean(returns), recentLength: recentMean(lengths) };
    },
  };
}
