// Random numbers that are the same on every machine for the same seed: resampling and permutation tests draw from it, so that a verdict
// can be computed again. Pure. mulberry32: 32 bits of state, passes PractRand to some GB, far more than a report draws.

export type Random = () => number;

/** A stream of uniform numbers in [0, 1). */
export function seededRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number in [0, bound). */
export function drawBelow(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const copy = [...values];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = drawBelow(random, i + 1);
    const kept = copy[i] as Value;
    copy[i] = copy[j] as Value;
    copy[j] = kept;
  }
  return copy;
}

/** A seed out of text, so that each metric has a stream of its own whatever the order they are looked at (FNV-1a). */
export function seedOf(text: string, seed = 0): number {
  let hash = (0x811c_9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193) >>> 0;
  return hash;
}
