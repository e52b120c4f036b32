// What the map of envs shows, made from control words: each state is told from its neighbours, and only an env that owes a frame is slow.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENV_STATE_CODE, ENV_STATES } from '../../harness/contract/env-state.js';
import type { Segment, SlotWords } from '../../harness/memory/interface.js';
import { createEnvStateReader, SLOW_AFTER_MS } from '../../harness/supervisor/env-states.js';
import type { PostState } from '../../harness/supervisor/post.js';

const ENVS = 4;

interface Slot {
  seq: number;
  epoch: number;
  owed: number;
  retired: number;
}

/** One worker with one block of envs 0 to 3; tests set its words and the clock. */
function scene(state: PostState = 'up') {
  const slots: Slot[] = Array.from({ length: ENVS }, () => ({ seq: 1, epoch: 0, owed: 0, retired: 0 }));
  const clock = { nowMs: 1000 };
  const segment = {
    slotWords(_: number, into: SlotWords, from: number) {
      slots.forEach((slot, i) => {
        for (const key of ['seq', 'epoch', 'owed', 'retired'] as const) into[key][from + i] = slot[key];
      });
    },
  } as unknown as Segment;
  const post = {
    state,
    blocks: [7],
    segment,
    planned: { spec: { runId: 'r', worker: 0, blocks: [{ id: 7, firstEnvId: 0, slots: ENVS }] }, entryOf: [0], tierOf: [0] },
  } as unknown as Parameters<typeof createEnvStateReader>[0][number];
  const reader = createEnvStateReader([post], ENVS + 2, () => clock.nowMs);
  return { slots, clock, read: () => [...reader.read()].map((code) => ENV_STATES[code]) };
}

describe('env states', () => {
  it('tell live, restarted, quarantined, not started, and envs of later tiers apart', () => {
    const { slots, read } = scene();
    Object.assign(slots[1] as Slot, { epoch: 2 });
    Object.assign(slots[2] as Slot, { retired: 1, epoch: 2 });
    Object.assign(slots[3] as Slot, { seq: 0 });
    assert.deepEqual(read(), ['live', 'restarted', 'quarantined', 'not-started', 'not-started', 'not-started']);
  });

  it('show what a lost worker leaves behind as lost, but for what was out before', () => {
    const { slots, read } = scene('lost');
    Object.assign(slots[0] as Slot, { retired: 1 });
    assert.deepEqual(read().slice(0, ENVS), ['quarantined', 'lost', 'lost', 'lost']);
  });

  it('call an env slow that has its action and publishes nothing, and not one that waits for the learner', () => {
    const { slots, clock, read } = scene();
    Object.assign(slots[0] as Slot, { owed: 1 });
    Object.assign(slots[1] as Slot, { owed: 1 });
    assert.deepEqual(read().slice(0, 3), ['live', 'live', 'live']);
    clock.nowMs += SLOW_AFTER_MS - 1;
    (slots[1] as Slot).seq++;
    assert.deepEqual(read().slice(0, 3), ['live', 'live', 'live']);
    clock.nowMs += 1;
    assert.deepEqual(read().slice(0, 3), ['slow', 'live', 'live']);
    (slots[0] as Slot).seq++;
    assert.deepEqual(read().slice(0, 3), ['live', 'live', 'live']);
  });

  it('have one code each', () => {
    for (const [code, name] of ENV_STATES.entries()) assert.equal(ENV_STATE_CODE[name], code);
    assert.equal(Object.keys(ENV_STATE_CODE).length, ENV_STATES.length);
  });
});
