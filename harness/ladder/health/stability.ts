// The stability score of each mix entry, and the envs that fall behind their own kind. Pure.
//
//   score = seconds live / seconds planned, summed over the entry's envs; planned: from an env's first frame to the end of the run.
//
// Live is what the map calls live or restarted: it answers its actions, or has none to answer. Slow, stale, quarantined and lost are not.
// The score says nothing of returns, speed or learning, is no weight for training, and no forecast.
import type { EnvRange } from '../../contract/env-state.js';
import type { HealthReport } from '../../contract/health-report.js';

type Stability = HealthReport['stability'][number];
type Slowest = HealthReport['slowest'][number];

/** An env below it is named a bad one of its entry: more than a minute and a half of every two and a half hours. */
const GOOD_SCORE = 0.99;

const share = (part: number, whole: number): number => Math.min(1, Math.max(0, part / whole));

export function stabilityOf(ranges: readonly EnvRange[], liveS: Float64Array, plannedS: Float64Array): Stability[] {
  const entries = [...new Set(ranges.map(({ entry }) => entry))];
  return entries.map((entry): Stability => {
    const found = { envs: 0, live: 0, planned: 0, worst: null as number | null, worstEnvId: null as number | null, below: 0 };
    for (const { first, count } of ranges.filter((range) => range.entry === entry)) {
      for (let env = first; env < first + count; env++) {
        const planned = plannedS[env] ?? 0;
        if (planned <= 0) continue;
        found.envs++;
        found.live += liveS[env] ?? 0;
        found.planned += planned;
        const score = share(liveS[env] ?? 0, planned);
        if (score < GOOD_SCORE) found.below++;
        if (found.worst !== null && found.worst <= score) continue;
        found.worst = score;
        found.worstEnvId = env;
      }
    }
    return {
      entry,
      envs: found.envs,
      planned_s: Math.round(found.planned * 10) / 10,
      score: found.planned > 0 ? share(found.live, found.planned) : null,
      worst: found.worst,
      worst_env_id: found.worstEnvId,
      below_99: found.below,
    };
  });
}

/** The `limit` envs with the fewest frames between the two counts, relative to the median of their entry. NaN in either: it does not take part. */
export function slowestOf(ranges: readonly EnvRange[], before: Float64Array, after: Float64Array, limit: number): Slowest[] {
  const all: Slowest[] = [];
  for (const entry of new Set(ranges.map((range) => range.entry))) {
    const mine = ranges
      .filter((range) => range.entry === entry)
      .flatMap(({ first, count, worker }) =>
        Array.from({ length: count }, (_, i) => ({
          env: first + i,
          worker,
          frames: (after[first + i] ?? Number.NaN) - (before[first + i] ?? Number.NaN),
        })),
      )
      .filter(({ frames }) => frames >= 0)
      .sort((a, b) => a.frames - b.frames);
    const half = mine.length >> 1;
    const median = ((mine[half]?.frames ?? 0) + (mine[mine.length % 2 === 1 ? half : half - 1]?.frames ?? 0)) / 2;
    if (median <= 0) continue;
    for (const { env, worker, frames } of mine.slice(0, limit)) {
      all.push({ env_id: env, entry, worker, frames, median, relative: Math.round((frames / median) * 10_000) / 10_000 });
    }
  }
  return all.sort((a, b) => a.relative - b.relative || a.env_id - b.env_id).slice(0, limit);
}
