// Mann and Whitney's rank test for two samples: are the values of one side stochastically larger than those of the other? The null
// distribution is exact, given the values as they are (ties get their mean rank), up to MAX_EXACT values in all; beyond it the normal
// approximation with tie and continuity correction. Pure.

/** Values of both sides together up to which the distribution is enumerated. C(60, 30) = 1.2e17: shares of it keep 15 figures. */
export const MAX_EXACT = 60;

export interface MannWhitney {
  /** Pairs in which x is larger, ties half: 0..n*m. */
  readonly u: number;
  /** Two-sided. */
  readonly p: number;
  readonly exact: boolean;
}

/** Twice the mean ranks of x's values among all (whole numbers, also with ties) and the sizes of the groups of equal values. */
function doubledRanks(x: readonly number[], y: readonly number[]): { all: number[]; ofX: number; ties: number[] } {
  const tagged = [...x.map((value) => ({ value, mine: true })), ...y.map((value) => ({ value, mine: false }))];
  tagged.sort((a, b) => a.value - b.value);
  const all: number[] = [];
  const ties: number[] = [];
  let ofX = 0;
  for (let from = 0; from < tagged.length; ) {
    let to = from + 1;
    while (to < tagged.length && tagged[to]?.value === tagged[from]?.value) to++;
    const doubled = from + 1 + to;
    for (let i = from; i < to; i++) {
      all.push(doubled);
      if (tagged[i]?.mine === true) ofX += doubled;
    }
    ties.push(to - from);
    from = to;
  }
  return { all, ofX, ties };
}

/** Share of the ways to choose `size` of the ranks whose sum is at most and at least `observed`. */
function tails(ranks: readonly number[], size: number, observed: number): { atMost: number; atLeast: number } {
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  // ways[k][s] = subsets of k ranks with sum s among those looked at so far.
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(total + 1));
  (ways[0] as Float64Array)[0] = 1;
  let reached = 0;
  for (const rank of ranks) {
    reached += rank;
    for (let k = size; k >= 1; k--) {
      const from = ways[k - 1] as Float64Array;
      const into = ways[k] as Float64Array;
      for (let sum = reached; sum >= rank; sum--) into[sum] = (into[sum] as number) + (from[sum - rank] as number);
    }
  }
  let below = 0;
  let above = 0;
  let all = 0;
  for (const [sum, count] of (ways[size] as Float64Array).entries()) {
    all += count;
    if (sum <= observed) below += count;
    if (sum >= observed) above += count;
  }
  return { atMost: below / all, atLeast: above / all };
}

/** Upper tail of the standard normal distribution: a series near the middle, a continued fraction beyond 3. */
function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z > 3) {
    let fraction = z;
    for (let k = 60; k >= 1; k--) fraction = z + k / fraction;
    return density / fraction;
  }
  // Series of the distribution function around 0; 60 terms reach machine precision for z <= 3.
  let term = z;
  let sum = z;
  for (let k = 1; k < 60; k++) {
    term *= (z * z) / (2 * k + 1);
    sum += term;
  }
  return 0.5 - density * sum;
}

/** Two-sided test of x against y. p is 1 when a side is empty or all values are equal. */
export function mannWhitney(x: readonly number[], y: readonly number[]): MannWhitney {
  const n = x.length;
  const m = y.length;
  if (n === 0 || m === 0) return { u: 0, p: 1, exact: true };
  const { all, ofX, ties } = doubledRanks(x, y);
  const u = ofX / 2 - (n * (n + 1)) / 2;
  if (n + m <= MAX_EXACT) {
    const { atMost, atLeast } = tails(all, n, ofX);
    return { u, p: Math.min(1, 2 * Math.min(atMost, atLeast)), exact: true };
  }
  const count = n + m;
  const tied = ties.reduce((sum, size) => sum + size ** 3 - size, 0);
  const deviation = Math.sqrt(((n * m) / 12) * (count + 1 - tied / (count * (count - 1))));
  const distance = Math.abs(u - (n * m) / 2) - 0.5;
  return { u, p: deviation === 0 ? 1 : Math.min(1, 2 * normalTail(distance / deviation)), exact: false };
}

/** Smallest two-sided p that n against m values can give: below it no difference, however large, shows. */
export function leastPossibleP(n: number, m: number): number {
  if (n === 0 || m === 0) return 1;
  let ways = 1;
  for (let i = 1; i <= Math.min(n, m); i++) ways *= (n + m - Math.min(n, m) + i) / i;
  return Math.min(1, 2 / ways);
}
