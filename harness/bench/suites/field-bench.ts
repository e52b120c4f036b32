// The account's observation at the account's number: 7,000 envs that draw 224x224 RGB frames, every byte gathered by the consumer; and the
// same with the image averaged to 14x14 on the way, which is what the learner's `pool` encoder takes.

import type { OutputSpec } from '../../memory/reader-options.js';
import type { Bench, BenchContext, Row } from '../bench.js';
import { type Consumed, raiseEnvRig } from '../env-rig.js';
import { FIELD_POOLED, FIELD_RAW } from '../outputs.js';
import { rowFrom, takeWindows, type Window } from '../windows.js';

const ENVS = 7000;
/** 256 raw frames are 39 MB: a batch that a learner could hold, small enough to keep worker and consumer in step. */
const BATCH = 256;

async function measure(context: BenchContext, label: string, outputs: readonly OutputSpec[]): Promise<Window<Consumed>[]> {
  const rig = await raiseEnvRig({ kind: 'field', envs: ENVS, outputs, batchLimit: BATCH });
  try {
    rig.consume(context.quick ? 100 : 1000);
    return await takeWindows(context, { windows: context.quick ? 2 : 5, label }, () => rig.consume(context.quick ? 200 : 1500));
  } finally {
    await rig.close();
  }
}

/** field_7000_obs_s, the bytes behind it, and the pooled way. */
export const fieldBench: Bench = {
  suite: 'process',
  rows: ['field_7000_obs_s', 'field_7000_gb_s', 'field_7000_pooled_obs_s'],
  async run(context): Promise<Row[]> {
    const raw = await measure(context, 'field_7000_obs_s', FIELD_RAW);
    const pooled = await measure(context, 'field_7000_pooled_obs_s', FIELD_POOLED);
    return [
      rowFrom('field_7000_obs_s', raw, (c) => c.frames / c.seconds, 'drawn, published, gathered raw (151,296 B each)'),
      rowFrom('field_7000_gb_s', raw, (c) => c.bytesCopied / c.seconds / 1e9, 'bytes the consumer copied'),
      rowFrom('field_7000_pooled_obs_s', pooled, (c) => c.frames / c.seconds, 'image averaged to 14x14 in the gather'),
    ];
  },
};
