// Bounds on a record beyond its schema: what no run writes and no page could show. They keep a damaged or hostile run.json from taking the
// reader's memory or stack. Generous: a campaign of six days has some ten tiers and kinds. Pure.
import type { RunRecord } from '../harness/contract/run-record.js';
import { formatCount } from './quantity.js';

const MAX_TIERS = 2_000;
/** Entries of the mix, summed over tiers. */
const MAX_KIND_RESULTS = 50_000;
/** Histogram buckets, summed over tiers: an HDR histogram of three figures has some 20,000. */
const MAX_BUCKETS = 5_000_000;
/** Roles, phases or drop reasons of one tier. */
const MAX_NAMES = 1_000;
const MAX_PLAN_DEPTH = 64;

/** Levels of nesting, counted no further than `limit`; without recursion. */
function depthOf(value: unknown, limit: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= limit; depth++) {
    const next = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (next.length === 0) return depth;
    level = next;
  }
  return limit + 1;
}

/** What breaks a bound, as a sentence with the limit; undefined when nothing does. */
export function boundProblem({ tiers, plan }: RunRecord): string | undefined {
  const over = (what: string, found: number, limit: number) =>
    found > limit ? `has ${formatCount(found)} ${what}, reports take at most ${formatCount(limit)}` : undefined;
  const sum = (of: (tier: RunRecord['tiers'][number]) => number) => tiers.reduce((total, tier) => total + of(tier), 0);
  const most = (of: (tier: RunRecord['tiers'][number]) => number) => tiers.reduce((top, tier) => Math.max(top, of(tier)), 0);
  return (
    over('tiers', tiers.length, MAX_TIERS) ??
    over(
      'results of kinds',
      sum((tier) => Object.keys(tier.kinds).length),
      MAX_KIND_RESULTS,
    ) ??
    over(
      'histogram buckets',
      sum((tier) => tier.latency_histogram.value_us.length + (tier.rate?.response_histogram.value_us.length ?? 0)),
      MAX_BUCKETS,
    ) ??
    over(
      'names in one tier',
      most((tier) => Math.max(...[tier.memory, tier.phase_seconds, tier.balance.dropped].map((names) => Object.keys(names).length))),
      MAX_NAMES,
    ) ??
    (depthOf(plan, MAX_PLAN_DEPTH) > MAX_PLAN_DEPTH ? `has a plan nested deeper than ${MAX_PLAN_DEPTH} levels` : undefined)
  );
}
