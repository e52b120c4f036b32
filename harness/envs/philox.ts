// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011): 128 bits of
// counter and 64 bits of key go in, 128 random bits come out, no state between calls. Written on int32 so V8 keeps it in registers.
// Pure.

const M0 = 0xd2511f53 | 0;
const M1 = 0xcd9e8d57 | 0;
const W0 = 0x9e3779b9 | 0;
const W1 = 0xbb67ae85 | 0;
const ROUNDS = 10;

/** High 32 bits of the unsigned product of two 32-bit words; every partial sum fits 32 bits, so nothing falls back to doubles. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const mid = (Math.imul(aHigh, bLow) >>> 0) + (Math.imul(aLow, bLow) >>> 16);
  const mid2 = (Math.imul(aLow, bHigh) >>> 0) + (mid & 0xffff);
  return (Math.imul(aHigh, bHigh) + (mid >>> 16) + (mid2 >>> 16)) | 0;
}

/** Writes the four output words (as int32) of counter (c0..c3) under key (k0, k1) into `out`. */
export function philox4x32(c0: number, c1: number, c2: number, c3: number, k0: number, k1: number, out: Int32Array): void {
  let x0 = c0 | 0;
  let x1 = c1 | 0;
  let x2 = c2 | 0;
  let x3 = c3 | 0;
  let key0 = k0 | 0;
  let key1 = k1 | 0;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = mulHigh(x0, M0);
    const low0 = Math.imul(x0, M0);
    const high1 = mulHigh(x2, M1);
    const low1 = Math.imul(x2, M1);
    x0 = high1 ^ x1 ^ key0;
    x1 = low1;
    x2 = high0 ^ x3 ^ key1;
    x3 = low0;
    key0 = (key0 + W0) | 0;
    key1 = (key1 + W1) | 0;
  }
  out[0] = x0;
  out[1] = x1;
  out[2] = x2;
  out[3] = x3;
}
