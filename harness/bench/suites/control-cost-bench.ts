// Does a step get dearer with the number of environments? CPU time of worker and consumer per noop step at 7,000 envs over that at 700,
// both rigs up at once and measured in turn. The one that is not measured sleeps.
import type { Bench, Row } from '../bench.js';
import { type Consumed, type EnvRig, raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { rowFrom, takeWindows } from '../windows.js';

interface Pair {
  readonly few: Consumed;
  readonly many: Consumed;
}

const cpuNs = (side: Consumed): number => (side.workerCpuNs + side.consumerCpuNs) / side.frames;

/** control_cost_7000_vs_700 and both sides. */
export const controlCostBench: Bench = {
  suite: 'process',
  rows: ['control_cost_7000_vs_700', 'control_cost_700_cpu_ns', 'control_cost_7000_cpu_ns'],
  async run(context): Promise<Row[]> {
    const windowMs = context.quick ? 100 : 1000;
    const rigs: EnvRig[] = [];
    try {
      for (const envs of [700, 7000]) rigs.push(await raiseEnvRig({ kind: 'noop', envs, outputs: floatOutput('vector') }));
      const [few, many] = rigs as [EnvRig, EnvRig];
      for (const rig of rigs) rig.consume(windowMs);
      const windows = await takeWindows<Pair>(context, { windows: context.quick ? 2 : 7, label: 'control_cost_7000_vs_700' }, (attempt) => {
        if (attempt % 2 === 0) return { few: few.consume(windowMs), many: many.consume(windowMs) };
        const manySide = many.consume(windowMs);
        return { few: few.consume(windowMs), many: manySide };
      });
      return [
        rowFrom(
          'control_cost_7000_vs_700',
          windows,
          (pair) => cpuNs(pair.many) / cpuNs(pair.few),
          'CPU of worker + consumer per noop step',
        ),
        rowFrom('control_cost_700_cpu_ns', windows, (pair) => cpuNs(pair.few)),
        rowFrom('control_cost_7000_cpu_ns', windows, (pair) => cpuNs(pair.many)),
      ];
    } finally {
      for (const rig of rigs) await rig.close();
    }
  },
};
