// Episode statistics of every env, absolute since the run began: how often it ended, what it earned, what it earned last. Fed from the
// readers' episode lists, sent to the supervisor every ENV_STATS_SECONDS; a restarted learner counts on from what the last one had sent.
import type { EnvStats } from '../contract/messages.js';

export interface EnvStatsTable {
  /** Places for envs firstEnvId..firstEnvId+count-1, contiguous; returns the first one. */
  addEnvs(firstEnvId: number, count: number): number;
  /** Counts an ended episode of the env at `place`. */
  add(place: number, episodeReturn: number, length: number): void;
  /** A copy of everything counted, to be sent. */
  stats(): EnvStats;
}

const COLUMNS = ['episodes', 'returnSum', 'lengthSum', 'lastReturn'] as const;

export function createEnvStatsTable(base: EnvStats | null = null): EnvStatsTable {
  const earlier = new Map(Array.from(base?.envIds ?? [], (envId, i) => [envId, i]));
  const table = {
    envIds: new Int32Array(0),
    episodes: new Float64Array(0),
    returnSum: new Float64Array(0),
    lengthSum: new Float64Array(0),
    lastReturn: new Float64Array(0),
  };
  return {
    addEnvs(firstEnvId, count) {
      const first = table.envIds.length;
      const envIds = new Int32Array(first + count);
      envIds.set(table.envIds);
      for (let i = 0; i < count; i++) envIds[first + i] = firstEnvId + i;
      table.envIds = envIds;
      for (const column of COLUMNS) {
        const grown = new Float64Array(first + count).fill(column === 'lastReturn' ? Number.NaN : 0);
        grown.set(table[column]);
        for (let i = 0; i < count; i++) {
          const known = earlier.get(firstEnvId + i);
          if (known !== undefined && base) grown[first + i] = base[column][known] as number;
        }
        table[column] = grown;
      }
      return first;
    },
    add(place, episodeReturn, length) {
      (table.episodes[place] as number)++;
      table.returnSum[place] = (table.returnSum[place] as number) + episodeReturn;
      table.lengthSum[place] = (table.lengthSum[place] as number) + length;
      table.lastReturn[place] = episodeReturn;
    },
    stats: () => ({
      envIds: table.envIds.slice(),
      episodes: table.episodes.slice(),
      returnSum: table.returnSum.slice(),
      lengthSum: table.lengthSum.slice(),
      lastReturn: table.lastReturn.slice(),
    }),
  };
}
