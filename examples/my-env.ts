// An environment of your own, small enough to read in a minute: a chain of rooms. The agent starts in the middle and walks left or right;
// the right end pays 1, the left end pays 0.1, every step costs a little.
//
//   npm run envladder -- env check corridor --module ./examples/my-env.ts
//   npm run ladder -- --module ./examples/my-env.ts --kind corridor --tiers 1000 --seconds 20
//
// Types only: a kind needs nothing of envladder at run time. docs/bring-your-own-env.md explains every member.
import type { EnvContext, EnvKind } from '../harness/contract/env.js';

interface CorridorConfig {
  rooms: number;
}

// What an episode needs to remember. One object per environment is fine; thousands of them in typed arrays are faster.
interface Walk {
  room: number;
}

export const kind: EnvKind<CorridorConfig> = {
  name: 'corridor',
  // Bump it when dynamics, rewards or spaces change: it is stored with every run.
  version: '1.0.0',
  summary: 'walk to the right end of a corridor: vector f32[2], 2 actions',

  // Fills defaults and refuses what it does not know, so that a typing error in a plan is seen before the run.
  parseConfig(given) {
    const { rooms = 11, ...unknown } = (given ?? {}) as { rooms?: unknown };
    const extra = Object.keys(unknown);
    if (extra.length > 0) throw new Error(`corridor: unknown config ${extra.join(', ')}`);
    if (typeof rooms !== 'number' || !Number.isInteger(rooms) || rooms < 3)
      throw new Error('corridor: rooms must be a whole number from 3');
    return { rooms };
  },

  // Declared once; memory is laid out from it, and every frame is checked against it.
  spaces: () => ({
    observation: { vector: { dtype: 'f32', shape: [2], low: -1, high: 1 } },
    action: { type: 'discrete', n: 2 },
  }),

  // The harness sets `truncated` at this step. An env never counts its own time limit.
  timeLimit: (config) => config.rooms * 8,

  // Called once per worker for a whole range of slots. `slot.index` counts inside the range; `slot.envId` is global and stable.
  create(context: EnvContext<CorridorConfig>) {
    const { rooms } = context.config;

    // Write the whole observation each time: the views belong to a ring of cells and change from frame to frame.
    const show = (obs: Float32Array, room: number): void => {
      obs[0] = (2 * room) / (rooms - 1) - 1;
      obs[1] = room === 0 || room === rooms - 1 ? 1 : 0;
    };

    return {
      reset(slot, seed) {
        // All chance comes from `seed`: the same base seed, env id and episode give the same start on any machine.
        const middle = Math.floor(rooms / 2);
        const walk: Walk = { room: seed.uniform() < 0.5 ? middle : middle - 1 };
        slot.state = walk;
        show(slot.obs.vector as Float32Array, walk.room);
      },

      step(slot, action) {
        const walk = slot.state as Walk;
        walk.room += action === 1 ? 1 : -1;
        show(slot.obs.vector as Float32Array, walk.room);
        const won = walk.room === rooms - 1;
        const ended = won || walk.room === 0;
        // `terminated`: the task ended. `truncated`: it was merely cut; the value of what would have come still counts.
        return { reward: won ? 1 : ended ? 0.1 : -0.01, terminated: ended, truncated: false };
      },
    };
  },

  // Files whose content makes up the provenance hash; their imports beside them are found by themselves.
  sources: [import.meta.url],
};
