// In which order the contenders of a round are measured: at random, so that nobody always comes after the one that heats the machine; from
// a seed, so that a run can be repeated. Pure.
import { PhiloxStream } from '../../envs/seed-stream.js';

/** The numbers 0 to n - 1 in the order of round `round` (Fisher and Yates). */
export function roundOrder(n: number, round: number, seed: number): number[] {
  const stream = new PhiloxStream(seed);
  stream.reseat(n, round);
  const order = Array.from({ length: n }, (_, index) => index);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(stream.uniform() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order;
}
