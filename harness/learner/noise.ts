// Random numbers by counter: the k-th draw of one env's policy is a function of (run seed, env id, k) alone, so actions do not depend on
// how many workers there are or in which order frames arrive. Pure. Used for sampling actions; shuffling has its own generator.

/** Murmur3's 32-bit finaliser (public domain): full avalanche. */
function mix32(x: number): number {
  let h = x | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Folds a run seed (up to 2^53) and a text into one 32-bit key. */
export function noiseKey(seed: number, text: string): number {
  let key = mix32((seed >>> 0) ^ 0x9e3779b9) ^ mix32(Math.floor(seed / 2 ** 32) + 0x7f4a7c15);
  for (let i = 0; i < text.length; i++) key = mix32(Math.imul(key, 31) + text.charCodeAt(i));
  return key >>> 0;
}

/** Uniform 32-bit integer of (key, env id, draw, lane). */
export function noiseU32(key: number, envId: number, draw: number, lane: number): number {
  let h = mix32(key ^ Math.imul(envId + 1, 0x9e3779b1));
  h = mix32(h ^ Math.imul(draw + 1, 0x85ebca77));
  return mix32(h + Math.imul(lane + 1, 0xc2b2ae3d));
}

/** Uniform in (0, 1): never 0, so that its logarithm is finite. */
export function noiseUniform(key: number, envId: number, draw: number, lane: number): number {
  return (noiseU32(key, envId, draw, lane) + 0.5) / 4294967296;
}

/** Standard normal (Box and Muller 1958); uses lanes 2 * lane and 2 * lane + 1. */
export function noiseNormal(key: number, envId: number, draw: number, lane: number): number {
  const radius = Math.sqrt(-2 * Math.log(noiseUniform(key, envId, draw, 2 * lane)));
  return radius * Math.cos(2 * Math.PI * noiseUniform(key, envId, draw, 2 * lane + 1));
}
