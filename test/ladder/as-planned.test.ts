// Goal: a run that is not the run that was planned says in what it differs, and one that is says nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { type AsPlannedFacts, judgeAsPlanned } from '../../harness/ladder/as-planned.js';
import { contractSha256 } from '../../harness/ladder/contract-hash.js';
import { leastFramesBetween } from '../../harness/ladder/least-frames.js';
import { entry, makePlan, PIXELS } from './plan-fixture.js';

const HASH = 'ab'.repeat(32);
const FACTS: AsPlannedFacts = {
  expect: { node: '20.20', seed: 7, cores: 2, cpuModel: 'EPYC', contractSha256: HASH },
  machine: { node: 'v20.20.2', cores: 2, cpu_model: 'EPYC' },
  seed: 7,
  contractAtStart: HASH,
  contractAtEnd: HASH,
};
const codes = (change: Partial<AsPlannedFacts>): string[] => judgeAsPlanned({ ...FACTS, ...change }).map(({ code }) => code);

describe('as planned', () => {
  it('is everything that was expected, or nothing expected', () => {
    assert.deepEqual(codes({}), []);
    assert.deepEqual(codes({ expect: {} }), []);
    assert.deepEqual(codes({ contractAtEnd: null }), []);
    for (const node of ['20', 'v20', '20.20.2', 'v20.20.2']) assert.deepEqual(codes({ expect: { node } }), [], node);
  });

  for (const [code, change] of [
    ['node-differs', { expect: { node: '2' } }],
    ['node-differs', { expect: { node: '20.2' } }],
    ['seed-differs', { seed: 8 }],
    ['machine-differs', { expect: { cores: 4 } }],
    ['machine-differs', { expect: { cpuModel: 'Xeon' } }],
    ['contract-differs', { expect: { contractSha256: 'cd'.repeat(32) } }],
    ['contract-changed', { contractAtEnd: 'cd'.repeat(32) }],
  ] as const satisfies readonly (readonly [string, Partial<AsPlannedFacts>])[]) {
    it(`is not: '${code}' (${JSON.stringify(change)})`, () => {
      assert.deepEqual(codes(change), [code]);
      for (const { message, advice } of judgeAsPlanned({ ...FACTS, ...change }))
        assert.ok(!`${message}${advice}`.includes('\n') && advice !== '');
    });
  }
});

describe('the contract hash', () => {
  const kinds = (code: string): RunRecord['env_kinds'] => ({
    cartpole: { kind: 'cartpole', version: '1', code_sha256: code, config_sha256: 'c', git_commit: null, autoreset: 'next-step' },
  });
  const plan = makePlan();
  const base = contractSha256(plan, kinds('a'), [entry('cartpole')]);

  it('is the same for the same envs, however many, wherever, with whichever seed', () => {
    for (const fields of [{ seed: 7 }, { tiers: [1, 2, 3] }, { workers: 2 }, { seconds: 9 }, { slos: ['goodput_sps > 1'] }])
      assert.equal(contractSha256(makePlan(fields), kinds('a'), [entry('cartpole')]), base);
  });

  it('differs with code, spaces, cells and autoreset', () => {
    const others = [
      contractSha256(plan, kinds('b'), [entry('cartpole')]),
      contractSha256(plan, kinds('a'), [entry('cartpole', PIXELS)]),
      contractSha256(makePlan({ cells: 3 }), kinds('a'), [entry('cartpole')]),
      contractSha256(makePlan({ autoreset: 'same-step' }), kinds('a'), [entry('cartpole')]),
    ];
    assert.equal(new Set([base, ...others]).size, 5);
  });
});

describe('the least frames of an env', () => {
  it('finds the one that stood still among many', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 1000 })), { minLength: 1 }), fc.nat(), (envs, pick) => {
        const stuck = pick % envs.length;
        const from = Float64Array.from(envs, ([seq]) => seq);
        const to = Float64Array.from(envs, ([seq, more], env) => seq + (env === stuck ? 0 : more));
        assert.deepEqual(leastFramesBetween(from, to), { envId: stuck, frames: 0 });
      }),
    );
  });

  it('leaves out envs that do not count, and is null when none does', () => {
    const nan = Number.NaN;
    assert.deepEqual(leastFramesBetween(Float64Array.of(1, nan, 5, 0), Float64Array.of(9, 3, nan, 4)), { envId: 3, frames: 4 });
    assert.equal(leastFramesBetween(Float64Array.of(nan), Float64Array.of(1)), null);
    assert.equal(leastFramesBetween(null, Float64Array.of(1)), null);
    assert.equal(leastFramesBetween(Float64Array.of(1), new Float64Array(0)), null);
  });
});
