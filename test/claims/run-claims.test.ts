// Goal: sides are taken in turns in an order that follows from the seed; a claim that throws costs itself alone; an interrupt and a time limit keep
// what is complete.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMachineFacts } from '../../harness/bench/machine-facts.js';
import { ALL_CLAIMS } from '../../harness/claims/all-claims.js';
import { chooseClaims } from '../../harness/claims/choose-claims.js';
import type { Claim, ClaimContext, Measured } from '../../harness/claims/claim.js';
import { drawRounds, interleaveSides } from '../../harness/claims/interleave.js';
import { type RunClaimsOptions, runClaims } from '../../harness/claims/run-claims.js';
import { madeEntry } from '../fixtures/claims-record.js';

function madeClaim(id: string, run: (context: ClaimContext) => Promise<Measured>, needs: Claim['needs'] = () => null): Claim {
  const { said, question, registered } = madeEntry(id);
  return { id, said, question, register: () => registered, needs, run };
}

function optionsFor(claims: readonly Claim[], change: Partial<RunClaimsOptions> = {}): RunClaimsOptions {
  return {
    claims,
    size: 'tiny',
    seed: 3,
    repeats: 3,
    limitSeconds: 60,
    signal: new AbortController().signal,
    load: { start: () => undefined, foreignCores: () => 0.25 },
    machine: readMachineFacts(),
    toolVersion: '0.0.0',
    say: () => undefined,
    onRegistered: () => undefined,
    onEntry: () => undefined,
    ...change,
  };
}

test('every round has every side once, in an order that follows from the seed and is not always the same', () => {
  const sides = ['a', 'b', 'c'];
  fc.assert(
    fc.property(fc.nat(2 ** 31 - 1), fc.integer({ min: 1, max: 20 }), (seed, rounds) => {
      const drawn = drawRounds(sides, rounds, seed);
      assert.equal(drawn.length, rounds);
      for (const order of drawn) assert.deepEqual([...order].sort(), sides);
      assert.deepEqual(drawRounds(sides, rounds, seed), drawn);
    }),
  );
  const first = new Map<string, number>();
  for (const [side = ''] of drawRounds(sides, 300, 1)) first.set(side, (first.get(side) ?? 0) + 1);
  for (const side of sides) assert.ok((first.get(side) ?? 0) > 60, `${side} begins ${first.get(side)} of 300 rounds`);
});

test('samples have one value per repeat and side, warm-ups are thrown away', async () => {
  const calls: string[] = [];
  const claim = madeClaim('made', async (context) => ({
    samples: await context.interleave(
      {
        old: (repeat) => {
          calls.push(`old ${repeat}`);
          return { rate: repeat };
        },
        new: async (repeat) => ({ rate: repeat * 2, lost: 0 }),
      },
      { warmUps: 2 },
    ),
    conditions: { size: context.size },
  }));
  const record = await runClaims(optionsFor([claim]));
  const [entry] = record.claims;
  assert.deepEqual(entry?.samples, { rate: { old: [0, 1, 2], new: [0, 2, 4] }, lost: { new: [0, 0, 0] } });
  assert.deepEqual(calls, ['old -1', 'old -2', 'old 0', 'old 1', 'old 2']);
  assert.equal(entry?.repeats, 3);
});

test('the load of others is looked at over bodies long enough to see it, and told for each body', async () => {
  // Bodies of 80 ms: the third ends the first look of 200 ms, the sixth the second; what comes after is too short to say.
  let now = 0;
  let looks = 0;
  const told: number[] = [];
  const said: string[] = [];
  const body = () => {
    now += 80;
    return { rate: 1 };
  };
  await interleaveSides(
    {
      claim: 'made',
      seed: 1,
      repeats: 4,
      signal: new AbortController().signal,
      load: { start: () => undefined, foreignCores: () => ++looks },
      say: (line) => said.push(line),
      onLoad: (cores) => told.push(cores),
      nowMs: () => now,
    },
    { old: body, new: body },
  );
  assert.deepEqual(told, [1, 1, 1, 2, 2, 2]);
  assert.match(said.join('\n'), /^made: round 1 of 4\nmade: round 2 of 4, others used 1\.00 cores\n/);
});

test('a claim that throws or measures nonsense is recorded as failed, and the rest go on', async () => {
  let dir = '';
  const bad = madeClaim('bad', async (context) => {
    dir = context.dir;
    throw new Error('no such device');
  });
  const odd = madeClaim('odd', async (context) => ({
    samples: await context.interleave({ old: () => ({ rate: Number.NaN }) }),
    conditions: {},
  }));
  const good = madeClaim('good', async (context) => ({ samples: await context.interleave({ old: () => ({ rate: 1 }) }), conditions: {} }));
  const seen: string[] = [];
  const order: string[] = [];
  const { claims, interrupted } = await runClaims(
    optionsFor([bad, odd, good], {
      onRegistered: ({ id }) => order.push(`rule ${id}`),
      onEntry: ({ id }, soFar) => {
        order.push(`done ${id}`);
        seen.push(soFar.claims.map((entry) => entry.id).join());
      },
    }),
  );
  assert.deepEqual(
    claims.map(({ state }) => state),
    ['failed', 'failed', 'measured'],
  );
  assert.equal(claims[0]?.reason, 'no such device');
  assert.match(claims[1]?.reason ?? '', /side old measured rate = NaN/);
  assert.deepEqual(seen, ['bad', 'bad,odd', 'bad,odd,good']);
  assert.deepEqual(order.slice(0, 3), ['rule bad', 'done bad', 'rule odd']);
  assert.equal(interrupted, false);
  assert.ok(dir !== '' && !existsSync(dir), 'the folder of a failed claim is left behind');
});

test('a claim that this machine cannot show is not begun', async () => {
  const claim = madeClaim(
    'elsewhere',
    async () => assert.fail('it was begun'),
    () => 'needs a GPU',
  );
  const { claims } = await runClaims(optionsFor([claim]));
  assert.deepEqual([claims[0]?.state, claims[0]?.reason], ['not-testable', 'needs a GPU']);
});

test('an interrupt keeps complete rounds and begins no other claim', async () => {
  const abort = new AbortController();
  const claim = madeClaim('made', async (context) => ({
    samples: await context.interleave({
      old: (repeat) => ({ rate: repeat }),
      new: (repeat) => {
        if (repeat === 1) abort.abort();
        return { rate: repeat };
      },
    }),
    conditions: {},
  }));
  const record = await runClaims(
    optionsFor([claim, madeClaim('next', async () => assert.fail('it was begun'))], { signal: abort.signal, repeats: 5 }),
  );
  assert.equal(record.interrupted, true);
  assert.deepEqual(
    record.claims.map(({ state, reason }) => [state, reason]),
    [['cut', 'interrupted']],
  );
  const lengths = Object.values(record.claims[0]?.samples.rate ?? {}).map(({ length }) => length);
  assert.ok(lengths.length === 2 && lengths[0] === 1 && lengths[1] === 1, JSON.stringify(lengths));
});

test('a claim that outlives its limit is cut without the round at hand', async () => {
  const claim = madeClaim('slow', async (context) => ({
    samples: await context.interleave(
      {
        old: async (repeat) => {
          if (repeat > 0 && !context.signal.aborted)
            await new Promise((done) => context.signal.addEventListener('abort', done, { once: true }));
          return { rate: 1 };
        },
      },
      { repeats: 1000 },
    ),
    conditions: {},
  }));
  const { claims, interrupted } = await runClaims(optionsFor([claim], { limitSeconds: 1 }));
  assert.equal(interrupted, false);
  assert.equal(claims[0]?.state, 'cut');
  assert.match(claims[0]?.reason ?? '', /longer than its 1 s/);
  assert.equal(claims[0]?.samples.rate?.old?.length, 1);
});

test('claims are chosen by id whatever their capitals, each once, and an unknown one is named', () => {
  assert.deepEqual(
    chooseClaims(['totals', 'MEM-18GB', 'totals'], ALL_CLAIMS).map(({ id }) => id),
    ['mem-18gb', 'totals'],
  );
  assert.equal(chooseClaims([], ALL_CLAIMS).length, ALL_CLAIMS.length);
  assert.throws(() => chooseClaims(['totals', 'moon'], ALL_CLAIMS), /^EnvladderError: moon: no such claim; claims are start-42s/);
});
