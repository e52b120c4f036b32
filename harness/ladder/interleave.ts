// The order in which two programs take turns on one machine. Each pair of turns is tossed anew, so that what drifts (heat, other load) falls
// on both sides alike and no side always goes first. Pure and seeded.

export type SideName = 'base' | 'candidate';

export interface Turn {
  readonly side: SideName;
  /** 1..runs within the side. */
  readonly number: number;
}

/** mulberry32: the same order on every machine for the same seed. */
function tosses(seed: number): () => boolean {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 < 0.5;
  };
}

/** 2 x `runs` turns. */
export function interleave(runs: number, seed: number): Turn[] {
  const toss = tosses(seed);
  return Array.from({ length: runs }, (_, i): Turn[] => {
    const base: Turn = { side: 'base', number: i + 1 };
    const candidate: Turn = { side: 'candidate', number: i + 1 };
    return toss() ? [base, candidate] : [candidate, base];
  }).flat();
}
