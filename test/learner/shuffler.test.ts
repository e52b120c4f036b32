import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createShuffler } from '../../harness/learner/shuffler.js';
import { near } from './near.js';

describe('shuffler', () => {
  it('brings every element to every place equally often', () => {
    // Goal: minibatches are random samples of the rollout. 60,000 shuffles of 5: each of 25 cells within 5 standard errors of 1/5.
    const shuffler = createShuffler(3);
    const seen = Array.from({ length: 5 }, () => new Int32Array(5));
    const order = new Int32Array(5);
    const rounds = 60_000;
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 5; i++) order[i] = i;
      shuffler.shuffle(order, 5);
      order.forEach((value, place) => {
        const row = seen[value] as Int32Array;
        row[place] = (row[place] as number) + 1;
      });
    }
    const error = Math.sqrt((0.2 * 0.8) / rounds);
    seen.forEach((places, value) => {
      for (const count of places) near(count / rounds, 0.2, 5 * error, `share of ${value} at a place`);
    });
  });

  it('goes on from its state, which a checkpoint keeps', () => {
    // Goal: a resumed run shuffles as the unbroken one would have.
    const first = createShuffler(7);
    for (let i = 0; i < 10; i++) first.uniform();
    const second = createShuffler(8);
    second.state.set(first.state);
    assert.deepEqual(
      Array.from({ length: 5 }, () => second.uniform()),
      Array.from({ length: 5 }, () => first.uniform()),
    );
  });

  it('draws normals of mean 0 and deviation 1', () => {
    // Goal: initial weights have the scale that the gains assume.
    const shuffler = createShuffler(5);
    const draws = Array.from({ length: 40_000 }, () => shuffler.normal());
    const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length;
    near(mean, 0, 0.03, 'mean');
    near(draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / draws.length, 1, 0.04, 'variance');
  });
});
