import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closeSlots, constructSlots } from '../../harness/envs/construct-slots.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';
import { brokenKind, openRange } from './broken-kinds.js';

const BAD_ENV = 101;
const ROUNDS = 5;
const boom = (): never => {
  throw new TypeError('boom');
};

describe('a failed env', () => {
  it('throws in close: is reported, the others are closed', async () => {
    // Goal: a bad close keeps nobody from closing.
    const closed: number[] = [];
    const kind = brokenKind({
      close: async (slot) => {
        if (slot.envId === BAD_ENV) throw new Error('stuck');
        closed.push(slot.envId);
      },
    });
    const { table, failures } = openRange(kind, 3);
    await constructSlots(table);
    await closeSlots(table);
    assert.deepEqual(closed, [100, 102]);
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.error.message ?? '', /env 101 \(broken\): close threw Error: stuck/);
  });

  it('is closed when it is quarantined, once', async () => {
    // Goal: resources of a failed env are given back, and not twice at stop.
    const closed: number[] = [];
    const kind = brokenKind({
      step: (slot, result) => (slot.envId === BAD_ENV ? boom() : result),
      close: (slot) => void closed.push(slot.envId),
    });
    const { port, table } = openRange(kind, 3);
    await constructSlots(table);
    for (let round = 0; round < ROUNDS; round++) {
      port.claim(3);
      stepClaimed(table);
      publishClaimed(table, 'off');
    }
    assert.deepEqual(closed, [BAD_ENV]);
    await closeSlots(table);
    assert.deepEqual(closed.sort(), [100, 101, 102]);
  });

  it('sets unknown flag bits in stepMany: is named', async () => {
    // Goal: a kind cannot forge FIRST, FINAL or QUARANTINED.
    const kind = brokenKind({ stepMany: (first, count, { range }) => range.flags.fill(4, first, first + count) });
    const { port, table, failures } = openRange(kind, 2);
    await constructSlots(table);
    for (let round = 0; round < 2; round++) {
      port.claim(2);
      stepClaimed(table);
      publishClaimed(table, 'off');
    }
    assert.equal(failures.length, 2);
    assert.match(failures[0]?.error.message ?? '', /flags is 4, stepMany may set TERMINATED and TRUNCATED only/);
  });
});
