// From nothing to 7,000 live environments: shared memory created and pre-faulted, worker process started, every env constructed, reset and
// its first frame published and taken. Each run is a fresh worker process.
import type { Bench, BenchContext, Row } from '../bench.js';
import { raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 7000;

async function startRow(context: BenchContext, name: 'start_noop_7000_s' | 'start_1ms_7000_s', constructMs: number): Promise<Row> {
  const windows = await takeWindows(context, { windows: context.quick ? 1 : constructMs > 0 ? 3 : 5, label: name }, async () => {
    const rig = await raiseEnvRig({
      kind: 'noop',
      config: { constructMs: context.quick ? constructMs / 10 : constructMs },
      envs: ENVS,
      outputs: floatOutput('vector'),
    });
    await rig.close();
    return rig;
  });
  const firsts = windows.map((window) => window.sample.firstBatchS);
  const note = `1 worker, constructors of ${constructMs} ms; first batch after ${Math.max(...firsts).toFixed(2)} s`;
  return rowFrom(name, windows, (rig) => rig.allLiveS, note);
}

/** start_noop_7000_s and start_1ms_7000_s. */
export const startBench: Bench = {
  suite: 'process',
  rows: ['start_noop_7000_s', 'start_1ms_7000_s'],
  run: async (context) => [await startRow(context, 'start_noop_7000_s', 0), await startRow(context, 'start_1ms_7000_s', 1)],
};
