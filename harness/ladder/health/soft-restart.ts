// Whether a worker's memory grows so that it should be replaced before the kernel ends it. Pure. It acts only on growth that is sure (the
// lower end of the 95 % interval is above 0): a large worker that stands still is left alone, whatever its size.
import type { Slope } from '../../contract/health-report.js';

/** A replacement takes some seconds to stand; growth is looked ahead for as long. */
export const LOOK_AHEAD_S = 10;
/** Share of the kernel's limit at which a worker without a limit of its own is replaced. */
export const SHARE_OF_MEMORY_MAX = 0.8;
/**
 * Of a life: code is compiled, heaps and caches reach their size, envs are built, so everything grows and a slope would only say that. A minute
 * is a choice, not a measurement: the slopes of a soak start to be of use after some minutes anyway. Growth in it is not looked ahead; what is
 * over the limit counts at once.
 */
export const WARM_UP_S = 60;

export interface MemoryFacts {
  readonly rssBytes: number;
  readonly ageS: number;
  /** Over the last half minute, bytes per second; sees a fast leak. */
  readonly recent: Slope;
  /** Over the whole life without its warm-up, bytes per second; sees a slow one through the noise. */
  readonly whole: Slope;
  /** 0: none. */
  readonly softLimitBytes: number;
  /** Hard limit of its memory group; null: none, or unknown. */
  readonly memoryMaxBytes: number | null;
}

/** Bytes at which a growing worker is replaced; null = never. */
export function softLimitOf({ softLimitBytes, memoryMaxBytes }: Pick<MemoryFacts, 'softLimitBytes' | 'memoryMaxBytes'>): number | null {
  const limits = [
    ...(softLimitBytes > 0 ? [softLimitBytes] : []),
    ...(memoryMaxBytes === null ? [] : [Math.floor(memoryMaxBytes * SHARE_OF_MEMORY_MAX)]),
  ];
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Why it should be replaced now, as a sentence part; null = it should not. */
export function softRestartReason(facts: MemoryFacts): string | null {
  const limit = softLimitOf(facts);
  if (limit === null) return null;
  const rising = [facts.recent, facts.whole].flatMap((slope) => (slope !== null && slope.low > 0 ? [slope.low] : []));
  if (rising.length === 0) return null;
  const fastest = Math.max(...rising);
  const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  if (facts.rssBytes >= limit) return `it holds ${mb(facts.rssBytes)}, over its soft limit of ${mb(limit)}, and grows`;
  if (facts.ageS < WARM_UP_S || facts.rssBytes + fastest * LOOK_AHEAD_S < limit) return null;
  return `it holds ${mb(facts.rssBytes)}, grows by at least ${mb(fastest)}/s and reaches its soft limit of ${mb(limit)} within ${LOOK_AHEAD_S} s`;
}
