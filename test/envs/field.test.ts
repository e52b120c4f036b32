import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DONE, FIRST, TRUNCATED } from '../../harness/contract/frame-flags.js';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { createRegistry, resolveKind } from '../../harness/envs/registry.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';
import { openRange } from './broken-kinds.js';

const kind = resolveKind(await createRegistry(), 'field');
const SIDE = 224;
const AGENT = [240, 240, 240];
const TARGETS = [
  [230, 80, 70],
  [90, 200, 90],
  [80, 140, 240],
  [240, 190, 60],
];

type Policy = (vector: Float32Array, slot: number, round: number) => number;

async function play(
  slots: number,
  rounds: number,
  policy: Policy,
  look?: (round: number, obs: Record<string, ArrayLike<number>>, slot: number) => void,
) {
  const { port, table } = openRange(kind, slots);
  await constructSlots(table);
  const returns = new Float64Array(slots);
  for (let round = 0; round < rounds; round++) {
    for (let slot = 0; slot < slots && round > 0; slot++) {
      port.range.action[slot] = policy(port.newest(slot).vector as Float32Array, slot, round);
    }
    port.claim(slots);
    stepClaimed(table);
    assert.equal(publishClaimed(table, 'full'), slots);
    for (let slot = 0; slot < slots; slot++) {
      returns[slot] = (returns[slot] as number) + (port.lastReward[slot] as number);
      look?.(round, port.newest(slot), slot);
    }
  }
  return { port, mean: returns.reduce((sum, value) => sum + value, 0) / slots };
}

/** Mean place of all pixels of a colour, and their number. */
function centre(rgb: ArrayLike<number>, colour: readonly number[]): { x: number; y: number; pixels: number } {
  let x = 0;
  let y = 0;
  let pixels = 0;
  for (let i = 0; i < SIDE * SIDE; i++) {
    if (rgb[3 * i] !== colour[0] || rgb[3 * i + 1] !== colour[1] || rgb[3 * i + 2] !== colour[2]) continue;
    x += (i % SIDE) + 0.5;
    y += Math.floor(i / SIDE) + 0.5;
    pixels++;
  }
  return { x: x / pixels, y: y / pixels, pixels };
}

const towardNearest: Policy = (vector) => {
  const dx = vector[4] as number;
  const dy = vector[5] as number;
  if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? 4 : 3;
  return dy > 0 ? 2 : 1;
};
/** A fixed jumble of actions: random enough, and the same every time. */
const jumble: Policy = (_vector, slot, round) => (Math.imul(slot * 7919 + round * 104729, 2654435761 >>> 1) % 5) >>> 0;

describe('field', () => {
  it('draws agent and targets where state and vector say they are', async () => {
    // Goal: the picture and the numbers describe one scene, in every frame.
    let looked = 0;
    await play(2, 40, towardNearest, (_round, obs) => {
      const { rgb, state, vector } = obs as { rgb: Uint8Array; state: Float32Array; vector: Float32Array };
      const agent = centre(rgb, AGENT);
      assert.equal(agent.pixels, 144);
      const x = (((state[0] as number) + 1) / 2) * SIDE;
      const y = (((state[1] as number) + 1) / 2) * SIDE;
      assert.ok(Math.abs(agent.x - x) <= 0.51 && Math.abs(agent.y - y) <= 0.51, `${agent.x},${agent.y} ${x},${y}`);
      assert.deepEqual([vector[0], vector[1]], [state[0], state[1]]);
      TARGETS.forEach((colour, k) => {
        const seen = centre(rgb, colour);
        if (seen.pixels < 100) return; // partly under the agent or another target
        assert.ok(Math.abs(seen.x - (x + (state[6 + 6 * k] as number) * SIDE)) <= 0.52);
        assert.ok(Math.abs(seen.y - (y + (state[7 + 6 * k] as number) * SIDE)) <= 0.52);
        looked++;
      });
    });
    assert.ok(looked > 100);
  });

  it('moves as its actions say', async () => {
    // Goal: 1 up, 2 down, 3 left, 4 right, 0 stays.
    for (const [action, dx, dy] of [
      [0, 0, 0],
      [1, 0, -1],
      [2, 0, 1],
      [3, -1, 0],
      [4, 1, 0],
    ] as const) {
      const places: number[][] = [];
      await play(
        1,
        3,
        () => action,
        (_round, obs) => places.push([obs.vector?.[0] as number, obs.vector?.[1] as number]),
      );
      const [before, after] = [places[0] as number[], places[2] as number[]];
      assert.equal(Math.sign((after[0] as number) - (before[0] as number)), dx);
      assert.equal(Math.sign((after[1] as number) - (before[1] as number)), dy);
    }
  });

  it('pays for seeking targets: heading for the nearest beats a jumble of actions by far', async () => {
    // Goal: there is something to learn, in the observation and in the reward.
    const seeking = await play(32, 129, towardNearest);
    const aimless = await play(32, 129, jumble);
    assert.ok(seeking.mean > (kind.kind.solvedReturn as number), `${seeking.mean}`);
    assert.ok(aimless.mean < 5, `${aimless.mean}`);
  });

  it('is cut after 128 steps and then starts anew', async () => {
    // Goal: an episode has the documented length and ends by truncation.
    const { port } = await play(1, 129, jumble);
    assert.equal((port.lastFlags[0] as number) & DONE, TRUNCATED);
    const next = await play(1, 130, jumble);
    assert.equal(next.port.lastFlags[0], FIRST);
  });

  it('pads with zeros only where the document says', async () => {
    // Goal: state 114..127 and vector 15..63 are padding; everything before varies.
    const seen = { state: new Set<number>(), vector: new Set<number>() };
    await play(
      16,
      300,
      (vector, slot, round) => (round % 3 === 0 ? jumble(vector, slot, round) : towardNearest(vector, slot, round)),
      (_round, obs) => {
        for (const key of ['state', 'vector'] as const) {
          const values = obs[key] as ArrayLike<number>;
          for (let j = 0; j < values.length; j++) if (values[j] !== 0) seen[key].add(j);
        }
      },
    );
    assert.deepEqual(
      [...seen.state].sort((a, b) => a - b),
      Array.from({ length: 114 }, (_, j) => j),
    );
    assert.deepEqual(
      [...seen.vector].sort((a, b) => a - b),
      Array.from({ length: 15 }, (_, j) => j),
    );
  });
});
