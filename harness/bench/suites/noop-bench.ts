// The framework alone: 7,000 environments that do nothing. Whatever a step costs here is ours.
import type { Bench, Row } from '../bench.js';
import { raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 7000;

/** noop_7000_sps and what one step costs, as wall and as CPU time of each side. */
export const noopBench: Bench = {
  suite: 'process',
  rows: [
    'noop_7000_sps',
    'framework_ns_per_step',
    'framework_cpu_ns_per_step',
    'noop_worker_cpu_ns_per_step',
    'noop_consumer_cpu_ns_per_step',
  ],
  async run(context): Promise<Row[]> {
    const rig = await raiseEnvRig({ kind: 'noop', envs: ENVS, outputs: floatOutput('vector') });
    try {
      rig.consume(context.quick ? 50 : 1000);
      const windows = await takeWindows(context, { windows: context.quick ? 2 : 7, label: 'noop_7000_sps' }, () =>
        rig.consume(context.quick ? 100 : 1000),
      );
      return [
        rowFrom('noop_7000_sps', windows, (c) => c.frames / c.seconds, '1 worker + consumer, 64 floats'),
        rowFrom('framework_ns_per_step', windows, (c) => (c.seconds * 1e9) / c.frames, 'wall per env step at saturation'),
        rowFrom(
          'framework_cpu_ns_per_step',
          windows,
          (c) => (c.workerCpuNs + c.consumerCpuNs) / c.frames,
          'worker + consumer, spinning included',
        ),
        rowFrom('noop_worker_cpu_ns_per_step', windows, (c) => c.workerCpuNs / c.frames),
        rowFrom('noop_consumer_cpu_ns_per_step', windows, (c) => c.consumerCpuNs / c.frames),
      ];
    } finally {
      await rig.close();
    }
  },
};
