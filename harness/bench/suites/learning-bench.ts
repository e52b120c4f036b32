// Does it learn? PPO on cartpole through the real processes, plan ladders/learn-cartpole.yaml, five seeds: env steps and seconds until the
// mean return of the last 100 training episodes reaches 475. The clock starts when the processes are up and the first env is started.
import type { Plan } from '../../contract/plan.js';
import { backendProblem } from '../../ladder/backend-probe.js';
import type { RowName } from '../bars.js';
import { type Bench, type BenchContext, countedRow, type Row, skippedRow } from '../bench.js';
import { estimate } from '../estimate.js';
import { type Learned, learnToReturn } from '../learn-to-return.js';

const SEEDS = [1, 2, 3, 4, 5];
/** A seed that has not learned by then counts as failed. */
const LIMIT_MS = 180_000;

type Names = readonly [seeds: RowName, steps: RowName, seconds: RowName];

async function learningRows(context: BenchContext, [seedsName, stepsName, secondsName]: Names, backend: Plan['backend']): Promise<Row[]> {
  const seeds = context.quick ? SEEDS.slice(0, 1) : SEEDS;
  const learned: Learned[] = [];
  const told: string[] = [];
  for (const seed of seeds) {
    const result = await learnToReturn(seed, backend, context.quick ? LIMIT_MS / 6 : LIMIT_MS);
    if (result !== undefined) learned.push(result);
    const text = result === undefined ? 'not reached' : `${result.steps.toLocaleString('en-US')} steps, ${result.seconds.toFixed(1)} s`;
    told.push(`seed ${seed}: ${text}`);
    context.say(`${seedsName} (${backend}): seed ${seed}: ${text}`);
  }
  const measured = (name: RowName, pick: (one: Learned) => number): Row =>
    learned.length === 0
      ? skippedRow(name, 'no seed reached the return')
      : { name, estimate: estimate(learned.map(pick)), foreignCores: null, note: `${learned.length} of ${seeds.length} seeds` };
  return [
    countedRow(seedsName, learned.length, `${backend}; ${told.join('; ')}`),
    measured(stepsName, (one) => one.steps),
    measured(secondsName, (one) => one.seconds),
  ];
}

function learningBench(rows: Names, backend: Plan['backend']): Bench {
  return {
    suite: 'learning',
    rows,
    async run(context) {
      const problem = backendProblem(backend);
      return problem === null ? learningRows(context, rows, backend) : rows.map((name) => skippedRow(name, problem));
    },
  };
}

/** One bench per backend. */
export const learningBenches: readonly Bench[] = [
  learningBench(['learn_cartpole_475_seeds', 'learn_cartpole_475_steps', 'learn_cartpole_475_s'], 'wasm'),
  learningBench(
    ['learn_cartpole_475_seeds_tfjs_node', 'learn_cartpole_475_steps_tfjs_node', 'learn_cartpole_475_s_tfjs_node'],
    'tfjs-node',
  ),
];
