// The random stream of one (base seed, env id, episode, life): Philox4x32-10 with key = base seed and counter = (block, life, env id,
// episode). Distinct quadruples are distinct counters, so no two streams ever share a block, whatever worker draws them and in whatever
// order. A stream has 2^32 blocks (2^34 words); one that draws more starts over. One object per slot is kept and re-seated at each reset.
import type { SeedStream } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import { philox4x32 } from './philox.js';

const TWO_POW_32 = 4294967296;
const TWO_POW_26 = 67108864;
const TWO_POW_MINUS_53 = 2 ** -53;

/** One Philox block is computed at a time, in one thread: all streams share this scratch and copy out of it. */
const block = new Int32Array(4);

/** A base seed as the two 32-bit key words. Throws `bad-usage` unless it is a whole number from 0 to 2^53 - 1. */
export function seedKey(baseSeed: number): { readonly low: number; readonly high: number } {
  if (!Number.isSafeInteger(baseSeed) || baseSeed < 0) {
    throw new EnvladderError(
      'bad-usage',
      `seed ${String(baseSeed)}: must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}; pass --seed with such a number`,
      { detail: { seed: baseSeed } },
    );
  }
  return { low: baseSeed | 0, high: Math.floor(baseSeed / TWO_POW_32) | 0 };
}

/** A seed stream that can be moved to another (env id, episode, life). A class: 7,000 of them share one set of methods. */
export class PhiloxStream implements SeedStream {
  // All fields are int32 (small integers in V8), except `spare`.
  private readonly keyLow: number;
  private readonly keyHigh: number;
  private envId = 0;
  private episode = 0;
  private block = 0;
  private life = 0;
  private w0 = 0;
  private w1 = 0;
  private w2 = 0;
  private w3 = 0;
  /** Words of the current block already handed out; 4 = none left. */
  private used = 4;
  private hasSpare = false;
  private spare = Number.NaN;

  constructor(baseSeed: number) {
    const key = seedKey(baseSeed);
    this.keyLow = key.low;
    this.keyHigh = key.high;
  }

  /** Moves to the start of the stream of (envId, episode) in the worker's life `life`, 0 = before any restart; each modulo 2^32. */
  reseat(envId: number, episode: number, life = 0): void {
    this.envId = envId | 0;
    this.episode = episode | 0;
    this.block = 0;
    this.life = life | 0;
    this.used = 4;
    this.hasSpare = false;
  }

  private nextWord(): number {
    if (this.used === 4) {
      philox4x32(this.block, this.life, this.envId, this.episode, this.keyLow, this.keyHigh, block);
      this.w0 = block[0] as number;
      this.w1 = block[1] as number;
      this.w2 = block[2] as number;
      this.w3 = block[3] as number;
      // No carry into the life: that would be another stream.
      this.block = (this.block + 1) | 0;
      this.used = 1;
      return this.w0;
    }
    const at = this.used++;
    return at === 1 ? this.w1 : at === 2 ? this.w2 : this.w3;
  }

  u32(): number {
    return this.nextWord() >>> 0;
  }

  uniform(): number {
    const high = this.nextWord() >>> 5;
    const low = this.nextWord() >>> 6;
    return (high * TWO_POW_26 + low) * TWO_POW_MINUS_53;
  }

  /** Box and Muller (1958): two normals per pair of uniforms, the second kept for the next call. */
  normal(): number {
    if (this.hasSpare) {
      this.hasSpare = false;
      return this.spare;
    }
    // 1 - u lies in (0, 1], so the logarithm is finite.
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.spare = radius * Math.sin(angle);
    this.hasSpare = true;
    return radius * Math.cos(angle);
  }
}

/** A fresh stream seated at (envId, episode, life). Throws `bad-usage` for a bad base seed. */
export function createSeedStream(baseSeed: number, envId: number, episode: number, life = 0): PhiloxStream {
  const stream = new PhiloxStream(baseSeed);
  stream.reseat(envId, episode, life);
  return stream;
}
