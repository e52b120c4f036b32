// A real env with almost no work against the plainest loop over it: how much of a core's speed is left once the frames are handed to
// another process. Rig and bare loop run in turn, each alone.

import { raiseBareRig } from '../bare-rig.js';
import type { Bench, Row } from '../bench.js';
import { type Consumed, raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 7000;

interface Pair {
  readonly rig: Consumed;
  readonly bare: { readonly steps: number; readonly seconds: number };
}

const rigSps = ({ rig }: Pair): number => rig.steps / rig.seconds;
const bareSps = ({ bare }: Pair): number => bare.steps / bare.seconds;

/** cartpole_vs_bare and both sides. */
export const cartpoleBench: Bench = {
  suite: 'process',
  rows: ['cartpole_vs_bare', 'cartpole_7000_sps', 'cartpole_bare_sps'],
  async run(context): Promise<Row[]> {
    const windowMs = context.quick ? 100 : 1000;
    const rig = await raiseEnvRig({ kind: 'cartpole', envs: ENVS, outputs: floatOutput('vector') });
    try {
      const bare = await raiseBareRig(ENVS, { kind: 'cartpole' });
      try {
        rig.consume(windowMs);
        const windows = await takeWindows<Pair>(context, { windows: context.quick ? 2 : 7, label: 'cartpole_vs_bare' }, async (attempt) => {
          if (attempt % 2 === 0) return { rig: rig.consume(windowMs), bare: await bare.run(windowMs) };
          const bareSide = await bare.run(windowMs);
          return { rig: rig.consume(windowMs), bare: bareSide };
        });
        return [
          rowFrom('cartpole_vs_bare', windows, (pair) => rigSps(pair) / bareSps(pair), 'constant actions, resets not counted as steps'),
          rowFrom('cartpole_7000_sps', windows, rigSps),
          rowFrom('cartpole_bare_sps', windows, bareSps),
        ];
      } finally {
        await bare.close();
      }
    } finally {
      await rig.close();
    }
  },
};
