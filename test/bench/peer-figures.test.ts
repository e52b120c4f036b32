import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { memoryRow } from '../../harness/bench/peers/measure-starts.js';
import { pairedRatio, signInterval } from '../../harness/bench/peers/paired-ratio.js';
import { dash, type PeerEntry, type Sample } from '../../harness/bench/peers/peer-entry.js';
import { rowResult } from '../../harness/bench/peers/peer-result.js';
import { refusal, systemOf } from '../../harness/bench/peers/peer-systems.js';
import { renderPeers } from '../../harness/bench/peers/peer-table.js';
import { roundOrder } from '../../harness/bench/peers/round-order.js';
import { fakeContender, fakeRow } from '../fixtures/fake-peers.js';

const machine = {
  hostname_hash: 'abc',
  cpu_model: 'Some CPU',
  cores: 2,
  memory_bytes: 2 ** 34,
  kernel: '6.1',
  os: 'Debian',
  node: 'v20.20.2',
  libc: 'glibc 2.36',
};
const room = { freeBytes: 20e9, fdLimit: 20_000 };
const sample = (value: number, foreignCores = 0.1, extra: Record<string, number> = {}): Sample => ({
  value,
  foreignCores,
  cores: 1,
  extra,
});

function entry(id: string, values: readonly (number | null)[], more: Partial<PeerEntry> = {}): PeerEntry {
  const samples = values.map((value) => (value === null ? null : sample(value)));
  return { ...dash(fakeContender(id, {}), ''), reason: null, samples, pssBytes: 50e6, versions: { fake: '1.2.3' }, ...more };
}

const positive = fc.double({ min: 1e-3, max: 1e6, noNaN: true });

test('the interval of the median needs six rounds and is exact', () => {
  // Goal: what is printed as 95 % is at least 95 %, by the binomial and not by a formula for large numbers.
  assert.equal(signInterval(5), null);
  assert.deepEqual(signInterval(6), { cut: 0, confidence: 1 - 2 / 64 });
  assert.deepEqual(signInterval(8), { cut: 0, confidence: 1 - 2 / 256 });
  assert.deepEqual(signInterval(9), { cut: 1, confidence: 1 - (2 * 10) / 512 });
  fc.assert(
    fc.property(fc.integer({ min: 6, max: 200 }), (n) => {
      const found = signInterval(n);
      assert.ok(found !== null && found.confidence >= 0.95 && found.cut < n / 2);
    }),
  );
});

test('a ratio says how many times better, whichever way the metric points', () => {
  // Goal: 2 always means that envladder did twice as well; swapping sides and direction gives the same number.
  assert.equal(pairedRatio([[200, 100]], 'higher').value, 2);
  assert.equal(pairedRatio([[1, 2]], 'lower').value, 2);
  fc.assert(
    fc.property(fc.array(fc.tuple(positive, positive), { minLength: 6, maxLength: 20 }), positive, (pairs, scale) => {
      const ratio = pairedRatio(pairs, 'higher');
      const swapped = pairedRatio(
        pairs.map(([own, peer]) => [peer, own] as const),
        'lower',
      );
      assert.equal(swapped.value, ratio.value);
      const { interval } = ratio;
      assert.ok(interval !== null && interval.low <= ratio.value && ratio.value <= interval.high);
      const scaled = pairedRatio(
        pairs.map(([own, peer]) => [own * scale, peer] as const),
        'higher',
      );
      assert.ok(Math.abs(scaled.value / (ratio.value * scale) - 1) < 1e-9);
    }),
  );
});

test('only rounds that measured both sides make a ratio', () => {
  // Goal: a round that one side lacks never pairs with another round's load.
  const { entries } = rowResult(fakeRow([]), [entry('own', [100, 200, 400]), entry('a', [10, null, 20]), entry('b', [null, null, null])]);
  const [own, a, b] = entries;
  assert.equal(own?.envladder_is, null);
  assert.deepEqual([a?.envladder_is?.value, a?.envladder_is?.rounds, a?.runs, a?.value], [15, 2, 2, 15]);
  assert.deepEqual([b?.envladder_is, b?.value, b?.runs], [null, null, 0]);
});

test('ratios are against the first of envladder that has figures', () => {
  // Goal: a backend that is not built leaves the row its ratios.
  const missing = dash({ ...fakeContender('own', {}), id: 'own-a' }, 'not built');
  const { entries } = rowResult(fakeRow([]), [missing, entry('own', [100]), entry('a', [50])]);
  assert.deepEqual(
    entries.map(({ envladder_is: ratio }) => ratio?.value ?? null),
    [null, null, 2],
  );
});

test('a dash keeps its place with its reason, a failure and a disturbed round are named', () => {
  // Goal: nobody is missing from the table without a word.
  const noisy = entry('noisy', [10, 20], { samples: [sample(10, 0.9), sample(20, 0.1)] });
  const row = rowResult(fakeRow([]), [
    entry('own', [100, 200]),
    dash(fakeContender('a', {}), 'has no threads'),
    dash(fakeContender('b', {}), 'b: died', true),
    noisy,
  ]);
  const table = renderPeers({ machine, taken: '2026-01-01T00:00:00.000Z', quick: false, rows: [row] });
  assert.match(table, /^2 x Some CPU, 16\.0 GiB, Debian, Linux 6\.1, Node v20\.20\.2\nfake 1\.2\.3\ntaken 2026-01-01/);
  assert.match(table, /^ {2}fake own +150 +100 \.\. 200 +steps\/s +2 +1\.0 +0\.10 +50$/m);
  assert.match(table, /^ {2}fake a +- +has no threads$/m);
  assert.match(table, /^ {2}fake b +- +b: died$/m);
  assert.match(table, /^ {2}fake noisy +15 +10 \.\. 20 +steps\/s +10x +none of 2 +2 +1\.0 +0\.90 +50 +1 of 2 rounds disturbed$/m);
});

test('six rounds print their interval, a slower envladder prints below one', () => {
  // Goal: the table can say that a peer is better.
  const row = rowResult(fakeRow([]), [entry('own', [10, 11, 12, 13, 14, 15]), entry('fast', [100, 110, 120, 130, 140, 150])]);
  const table = renderPeers({ machine, taken: 'x', quick: true, rows: [row] });
  assert.match(table, /0\.1x +0\.1x \.\. 0\.1x +6/);
  assert.match(table, /quick: shows that it runs/);
});

test('the memory row comes from the same starts', () => {
  // Goal: start and memory are one run's, and neither is taken for the other.
  const starts = [entry('own', [], { samples: [sample(1, 0, { pssBytes: 80e6, importS: 0.5, processes: 2 })] })];
  const row = {
    ...fakeRow([], 'start'),
    name: 'start_1000',
    title: 'CartPole, 1000 envs, to the first batch',
    unit: 's',
    better: 'lower' as const,
  };
  const memory = memoryRow(row, starts);
  assert.deepEqual(
    [memory.row.name, memory.row.unit, memory.row.title],
    ['memory_1000', 'MB', 'CartPole, 1000 envs, PSS of all processes after it'],
  );
  assert.equal(rowResult(memory.row, memory.entries).entries[0]?.value, 80);
  assert.equal(rowResult(row, starts).entries[0]?.note, 'imports 0.5 s, 2 processes');
});

test('what cannot be done is refused with its numbers', () => {
  // Goal: 7,000 processes are not tried on a machine they would fill; an env of one's own is not asked of who cannot step it.
  const ask = (id: string, task: 'cartpole' | 'dict', envs: number, more = {}) => refusal(systemOf(id), task, envs, { ...room, ...more });
  assert.equal(ask('gym-async', 'cartpole', 1000), null);
  assert.equal(ask('gym-async', 'cartpole', 7000), 'a process per env: about 29.4 GB, 20.0 GB are free');
  assert.equal(ask('gym-async', 'cartpole', 7000, { freeBytes: 1e12 }), 'a process per env: about 21000 descriptors, the limit is 20000');
  assert.equal(ask('gym-async', 'cartpole', 7000, { freeBytes: 1e12, fdLimit: 1e6 }), null);
  assert.match(ask('sb3-subproc', 'cartpole', 1000) ?? '', /14\.5 GB/);
  for (const id of ['envpool', 'envpool-1', 'puffer-c', 'gym-numpy']) assert.notEqual(ask(id, 'dict', 64), null);
  for (const id of ['own', 'gym-sync', 'gym-async', 'puffer-1', 'sb3-dummy']) assert.equal(ask(id, 'dict', 64), null);
});

test('every round measures everyone once, in an order that the seed decides', () => {
  // Goal: nobody always comes second; a run can be repeated.
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 }), fc.nat(100), fc.nat(1e6), (n, round, seed) => {
      const order = roundOrder(n, round, seed);
      assert.deepEqual(order, roundOrder(n, round, seed));
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        Array.from({ length: n }, (_, i) => i),
      );
    }),
  );
  const orders = new Set(Array.from({ length: 20 }, (_, round) => roundOrder(8, round, 1).join()));
  assert.ok(orders.size > 15);
});
