// Random choices of the matrix, repeatable from a recorded seed: the counter-based generator that seeds the envs, as a stream. Pure.
import { philox4x32 } from '../envs/philox.js';

/** Numbers in [0, 1); the same seed gives the same ones. */
export function seededRandom(seed: number, stream = 0): () => number {
  const words = new Int32Array(4);
  let counter = 0;
  return () => {
    philox4x32(counter++, stream, 0xc4a05, 0, seed | 0, Math.floor(seed / 4294967296) | 0, words);
    return ((words[0] as number) >>> 0) / 4294967296;
  };
}

/** One of `items`, which must not be empty. */
export function pickOne<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
