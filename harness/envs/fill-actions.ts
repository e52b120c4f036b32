// Random actions of an action space, for checks and benches that have no policy. Uniform over discrete choices and over bounded boxes;
// an unbounded side of a box counts as [-1, 1] around what is bounded.
import type { SeedStream } from '../contract/env.js';
import { type ActionSpace, boundAt } from '../contract/spaces.js';

/** Writes one random action of `space` at `actions[at..]`. */
export function fillAction(space: ActionSpace, stream: SeedStream, actions: Int32Array | Float32Array, at: number): void {
  if (space.type === 'discrete') {
    actions[at] = Math.floor(stream.uniform() * space.n);
    return;
  }
  if (space.type === 'multi-discrete') {
    space.nvec.forEach((n, j) => {
      actions[at + j] = Math.floor(stream.uniform() * n);
    });
    return;
  }
  const count = space.shape.reduce((product, size) => product * size, 1);
  for (let j = 0; j < count; j++) {
    const low = Math.max(boundAt(space.low, j), Math.min(-1, boundAt(space.high, j)));
    const high = Math.min(boundAt(space.high, j), Math.max(1, boundAt(space.low, j)));
    const bounded = Math.abs(boundAt(space.low, j)) < 1e30 && Math.abs(boundAt(space.high, j)) < 1e30;
    const from = bounded ? boundAt(space.low, j) : low;
    const to = bounded ? boundAt(space.high, j) : high;
    actions[at + j] = from + (to - from) * stream.uniform();
  }
}
