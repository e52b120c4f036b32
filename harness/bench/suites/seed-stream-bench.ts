// What a new episode's random stream costs: one reseat and the four draws a classic-control reset makes.
import { PhiloxStream } from '../../envs/seed-stream.js';
import type { Bench } from '../bench.js';
import { runMicroTask } from '../micro.js';

const CALLS = 1000;

/** The seed stream bench. */
export const seedStreamBench: Bench = {
  suite: 'micro',
  rows: ['seed_reseat_ns'],
  async run(context) {
    const stream = new PhiloxStream(1);
    let episode = 0;
    let sink = 0;
    const row = await runMicroTask(context, {
      name: 'seed_reseat_ns',
      note: 'reseat to (env, episode) and 4 uniform draws',
      calls: CALLS,
      body() {
        for (let env = 0; env < CALLS; env++) {
          stream.reseat(env, episode);
          sink += stream.uniform() + stream.uniform() + stream.uniform() + stream.uniform();
        }
        episode++;
      },
    });
    // The draws must be used, or the compiler may leave them out.
    if (!(sink > 0)) throw new Error('seed_reseat_ns: the streams drew nothing');
    return [row];
  },
};
