// PPO on cartpole with 1,024 envs and 4-64-64 nets: transitions that went through all 4 epochs of an update, per second of wall time, env
// steps and inference included. A window runs from the end of one update to the end of a later one, so no update is counted in part.
import type { Plan } from '../../contract/plan.js';
import type { LearnerSnapshot } from '../../contract/snapshot.js';
import { backendProblem } from '../../ladder/backend-probe.js';
import type { RowName } from '../bars.js';
import { type Bench, type BenchContext, type Row, skippedRow } from '../bench.js';
import { type BenchCrew, raiseBenchCrew, withPpo } from '../crew-rig.js';
import { createRigPlan } from '../rig-plan.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 1024;
/** 32,768 transitions and 16 gradient steps an update. */
const HORIZON = 32;
const MINIBATCH = 8192;
/** An update that does not come within this is a hang. */
const UPDATE_LIMIT_MS = 60_000;

async function nextUpdate(crew: BenchCrew, after: number): Promise<LearnerSnapshot> {
  const snapshot = await crew.pollUntil(({ updates }) => updates > after, UPDATE_LIMIT_MS);
  if (snapshot === undefined) throw new Error(`no update within ${UPDATE_LIMIT_MS / 1000} s`);
  return snapshot;
}

async function ppoRow(context: BenchContext, name: RowName, backend: Plan['backend'], activation: 'relu' | 'tanh'): Promise<Row> {
  // targetKl 0: an early stop would skip epochs and flatter the figure.
  const ppo = { horizon: HORIZON, minibatch: MINIBATCH, epochs: 4, targetKl: 0, hidden: [64, 64], activation };
  const crew = await raiseBenchCrew(withPpo(await createRigPlan(ENVS, { kind: 'cartpole' }, 'ppo'), backend, ppo));
  try {
    let last = await nextUpdate(crew, context.quick ? 0 : 2);
    const windows = await takeWindows({ windows: context.quick ? 1 : 5, load: context.load, say: context.say, label: name }, async () => {
      const first = last;
      const enoughMs = first.monotonicMs + (context.quick ? 0 : 3000);
      do last = await nextUpdate(crew, last.updates);
      while (last.monotonicMs < enoughMs);
      return (last.trained - first.trained) / ((last.monotonicMs - first.monotonicMs) / 1000);
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
