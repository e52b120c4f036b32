// How many times better envladder did than a peer, from rounds that measured both: the median of the rounds' ratios, and an interval that
// holds the true median with at least 95 % whatever the ratios' distribution (order statistics of the sign test). Pure.
import { estimate } from '../estimate.js';

export interface PairedRatio {
  /** Above 1: envladder did better. */
  readonly value: number;
  /** Null below six rounds, of which no such interval can be made. */
  readonly interval: { readonly low: number; readonly high: number; readonly confidence: number } | null;
  readonly rounds: number;
}

const WANTED = 0.95;

/** Chance that at most `k` of `n` fair coins fall heads. */
function binomialTail(k: number, n: number): number {
  let term = 0.5 ** n;
  let sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += term;
    term = (term * (n - i)) / (i + 1);
  }
  return sum;
}

/** How many of the sorted values may be cut off at each end, and what confidence is left; null when even the full range is too little. */
export function signInterval(n: number): { readonly cut: number; readonly confidence: number } | null {
  let best: { cut: number; confidence: number } | null = null;
  for (let cut = 0; cut < n / 2; cut++) {
    const confidence = 1 - 2 * binomialTail(cut, n);
    if (confidence < WANTED) break;
    best = { cut, confidence };
  }
  return best;
}

/** Ratio of the pairs [envladder, peer], one per round. Throws on no rounds. */
export function pairedRatio(pairs: readonly (readonly [own: number, peer: number])[], better: 'higher' | 'lower'): PairedRatio {
  const ratios = pairs.map(([own, peer]) => (better === 'higher' ? own / peer : peer / own)).sort((a, b) => a - b);
  const cut = signInterval(ratios.length);
  const interval =
    cut === null
      ? null
      : { low: ratios[cut.cut] as number, high: ratios[ratios.length - 1 - cut.cut] as number, confidence: cut.confidence };
  return { value: estimate(ratios).value, interval, rounds: ratios.length };
}
