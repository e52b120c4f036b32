import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { philox4x32 } from '../../harness/envs/philox.js';
import { createSeedStream, PhiloxStream } from '../../harness/envs/seed-stream.js';

const hex = (words: Int32Array): string => Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, '0')).join(' ');
const baseSeed = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('Philox4x32-10', () => {
  // Random123 1.14, tests/kat_vectors: counter, key, output.
  const vectors = [
    ['00000000 00000000 00000000 00000000', '00000000 00000000', '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
    ['ffffffff ffffffff ffffffff ffffffff', 'ffffffff ffffffff', '408f276d 41c83b0e a20bc7c6 6d5451fd'],
    ['243f6a88 85a308d3 13198a2e 03707344', 'a4093822 299f31d0', 'd16cfe09 94fdcceb 5001e420 24126ea1'],
  ] as const;
  for (const [counter, key, want] of vectors) {
    it(`gives the published output for counter ${counter}`, () => {
      // Goal: the generator is the published one, bit for bit.
      const [c0, c1, c2, c3] = counter.split(' ').map((word) => Number.parseInt(word, 16)) as [number, number, number, number];
      const [k0, k1] = key.split(' ').map((word) => Number.parseInt(word, 16)) as [number, number];
      const out = new Int32Array(4);
      philox4x32(c0, c1, c2, c3, k0, k1, out);
      assert.equal(hex(out), want);
    });
  }
});

describe('seed streams', () => {
  it('lays key and counter out as (seed low, seed high; block, life, env id, episode)', () => {
    // Goal: streams are what the published vectors say, so that any other implementation can repeat a run.
    const seed = 0x1f * 2 ** 32 + 0xa4093822;
    const out = new Int32Array(4);
    for (const life of [undefined, 0, 5]) {
      const stream = createSeedStream(seed, 7, 9, life);
      for (const block of [0, 1, 2]) {
        philox4x32(block, life ?? 0, 7, 9, 0xa4093822, 0x1f, out);
        for (const word of out) assert.equal(stream.u32(), word >>> 0);
      }
    }
  });

  it('gives no two equal streams for base seeds 0..99 x 7,000 envs', { timeout: 60_000 }, () => {
    // Goal: no pair of (base seed, env id) shares a stream: all 700,000 first 53-bit draws differ.
    const draws = new Float64Array(100 * 7000);
    for (let seed = 0; seed < 100; seed++) {
      const stream = new PhiloxStream(seed);
      for (let env = 0; env < 7000; env++) {
        stream.reseat(env, 0);
        draws[seed * 7000 + env] = stream.uniform();
      }
    }
    draws.sort();
    for (let i = 1; i < draws.length; i++) assert.notEqual(draws[i], draws[i - 1]);
  });

  it('re-seats to exactly a fresh stream, whatever was drawn before', () => {
    // Goal: one object per slot can serve all its episodes.
    fc.assert(
      fc.property(
        baseSeed,
        id,
        id,
        id,
        fc.array(fc.constantFrom('u32', 'uniform', 'normal'), { maxLength: 9 }),
        (seed, env, episode, other, calls) => {
          const stream = createSeedStream(seed, other, other);
          for (const call of calls) stream[call as 'u32']();
          stream.reseat(env, episode, 3);
          stream.reseat(env, episode);
          const fresh = createSeedStream(seed, env, episode);
          for (const call of ['normal', 'u32', 'uniform', 'normal', 'normal', 'u32'] as const) assert.equal(stream[call](), fresh[call]());
        },
      ),
    );
  });

  it('does not depend on what other streams draw in between', () => {
    // Goal: arrival order cannot change a trajectory.
    fc.assert(
      fc.property(baseSeed, id, id, fc.integer({ min: 1, max: 20 }), (seed, a, b, count) => {
        const alone = createSeedStream(seed, a, 0);
        const want = Array.from({ length: count }, () => alone.uniform());
        const left = createSeedStream(seed, a, 0);
        const right = createSeedStream(seed, b, 1);
        const got = Array.from({ length: count }, () => {
          right.normal();
          return left.uniform();
        });
        assert.deepEqual(got, want);
      }),
    );
  });

  it('differs when any one of seed, env id, episode and life differs', () => {
    // Goal: neighbours share nothing; in particular (seed, env + 1) is not (seed + 1, env).
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 40 }),
        fc.integer({ min: 0, max: 2 ** 31 }),
        fc.integer({ min: 0, max: 2 ** 31 }),
        (seed, env, episode) => {
          const four = (s: number, e: number, p: number, life?: number): string => {
            const stream = createSeedStream(s, e, p, life);
            return [stream.u32(), stream.u32(), stream.u32(), stream.u32()].join();
          };
          const all = [
            four(seed, env, episode),
            four(seed + 1, env, episode),
            four(seed, env + 1, episode),
            four(seed, env, episode + 1),
            four(seed + 2 ** 32, env, episode),
            four(seed, env, episode, 1),
            four(seed, env, episode, 2 ** 24 - 1),
          ];
          assert.equal(new Set(all).size, all.length);
        },
      ),
    );
  });

  it('draws uniforms in [0, 1) and normals with mean 0 and variance 1', () => {
    // Goal: the maps from bits to numbers are right.
    const stream = createSeedStream(12, 3, 0);
    const count = 200_000;
    let sum = 0;
    let square = 0;
    let tail = 0;
    let uniforms = 0;
    for (let i = 0; i < count; i++) {
      const u = stream.uniform();
      assert.ok(u >= 0 && u < 1);
      uniforms += u;
      const n = stream.normal();
      sum += n;
      square += n * n;
      if (Math.abs(n) > 1.959964) tail++;
    }
    // Five standard errors; the seed is fixed, so this either always holds or never.
    assert.ok(Math.abs(uniforms / count - 0.5) < 5 * Math.sqrt(1 / 12 / count));
    assert.ok(Math.abs(sum / count) < 5 / Math.sqrt(count));
    assert.ok(Math.abs(square / count - 1) < 5 * Math.sqrt(2 / count));
    assert.ok(Math.abs(tail / count - 0.05) < 5 * Math.sqrt((0.05 * 0.95) / count));
  });

  it('refuses base seeds that are no whole number from 0 to 2^53 - 1', () => {
    // Goal: a seed that would be rounded silently is an error.
    for (const seed of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
      assert.throws(
        () => new PhiloxStream(seed),
        (error) => error instanceof EnvladderError && error.code === 'bad-usage',
      );
    }
  });
});
