// The learner's sequential generator: draws initial weights and shuffles minibatches. xoshiro128** (Blackman and Vigna 2018, public
// domain); its four words are part of a checkpoint, so a resumed run shuffles on where the old one stopped.

export interface Shuffler {
  /** Uniform in [0, 1), 32 bits. */
  uniform(): number;
  normal(): number;
  /** Permutes the first `count` elements in place (Fisher and Yates). */
  shuffle(values: Int32Array, count: number): void;
  readonly state: Uint32Array;
}

export function createShuffler(key: number): Shuffler {
  const s = new Uint32Array(4);
  // splitmix32 spreads the key over the state; an all-zero state cannot come out of it.
  let x = key >>> 0;
  for (let i = 0; i < 4; i++) {
    x = (x + 0x9e3779b9) >>> 0;
    let z = x;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    s[i] = z ^ (z >>> 15);
  }
  const next = (): number => {
    const s0 = s[0] as number;
    const s1 = s[1] as number;
    const s2 = s[2] as number;
    const s3 = s[3] as number;
    const r = Math.imul(s1, 5);
    const result = Math.imul((r << 7) | (r >>> 25), 9) >>> 0;
    const a = s2 ^ s0;
    const b = s3 ^ s1;
    s[1] = s1 ^ a;
    s[0] = s0 ^ b;
    s[2] = a ^ (s1 << 9);
    s[3] = (b << 11) | (b >>> 21);
    return result;
  };
  const uniform = (): number => next() / 4294967296;
  return {
    state: s,
    uniform,
    normal() {
      return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    },
    shuffle(values, count) {
      for (let i = count - 1; i > 0; i--) {
        // Modulo bias is below 2^-32 * count: nothing for a minibatch order.
        const j = next() % (i + 1);
        const swap = values[i] as number;
        values[i] = values[j] as number;
        values[j] = swap;
      }
    },
  };
}
