// PPO on cartpole with 1,024 envs and 4-64-64 nets: transitions that went through all 4 epochs of an update, per second of wall time, env
// steps and inference included.
import type { Plan } from '../../contract/plan.js';
import { backendProblem } from '../../ladder/backend-probe.js';
import type { RowName } from '../bars.js';
import { type Bench, type BenchContext, type Row, skippedRow } from '../bench.js';
import { raiseBenchCrew, withPpo } from '../crew-rig.js';
import { createRigPlan } from '../rig-plan.js';
import { measureTrained, nextUpdate } from '../trained-rate.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 1024;
/** 32,768 transitions and 16 gradient steps an update. */
const HORIZON = 32;
const MINIBATCH = 8192;

async function ppoRow(context: BenchContext, name: RowName, backend: Plan['backend'], activation: 'relu' | 'tanh'): Promise<Row> {
  // targetKl 0: an early stop would skip epochs and flatter the figure.
  const ppo = { horizon: HORIZON, minibatch: MINIBATCH, epochs: 4, targetKl: 0, hidden: [64, 64], activation };
  const crew = await raiseBenchCrew(withPpo(await createRigPlan(ENVS, { kind: 'cartpole' }, 'ppo'), backend, ppo));
  try {
    let last = await nextUpdate(crew, context.quick ? 0 : 2);
    const windows = await takeWindows(context, { windows: context.quick ? 1 : 5, label: name }, async () => {
      // The runner may have waited for a quiet machine since the last window: begin with a fresh update.
      const first = context.quick ? last : await nextUpdate(crew, last.updates);
      const measured = await measureTrained(crew, first, context.quick ? 0 : 3000);
      last = measured.last;
      return measured.sps;
    });
    const note = `${crew.crew.backend}, ${activation}, ${ENVS} x ${HORIZON}, minibatch ${MINIBATCH}, 4 epochs`;
    return rowFrom(name, windows, (sps) => sps, note);
  } finally {
    await crew.stop();
  }
}

function ppoBench(name: RowName, backend: Plan['backend'], activation: 'relu' | 'tanh'): Bench {
  return {
    suite: 'ppo',
    rows: [name],
    async run(context) {
      const problem = backendProblem(backend);
      return problem === null ? [await ppoRow(context, name, backend, activation)] : [skippedRow(name, problem)];
    },
  };
}

/** The three PPO rows, each a bench of its own. */
export const ppoBenches: readonly Bench[] = [
  ppoBench('ppo_cartpole_1024_sps', 'wasm', 'relu'),
  ppoBench('ppo_cartpole_1024_sps_tanh', 'wasm', 'tanh'),
  ppoBench('ppo_cartpole_1024_sps_tfjs_node', 'tfjs-node', 'relu'),
];
