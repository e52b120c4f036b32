// Does a slow environment hold the others up? Envs of 10 us a step, and the same with 5 % of them ten times slower. Twice: in a PPO run
// (goodput, the promised row), and with a worker that has nothing to spare, where every microsecond of a straggler is somebody's.
import type { Bench, BenchContext, Row } from '../bench.js';
import { raiseBenchCrew, withPpo } from '../crew-rig.js';
import { type Consumed, type EnvRig, raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { createRigPlan, type RigKind } from '../rig-plan.js';
import { measureTrained, nextUpdate } from '../trained-rate.js';
import { rowFrom, takeWindows } from '../windows.js';

const ENVS = 700;
/** Every 20th env: spread out, so that every chunk of the worker meets some. */
const STRAGGLERS = Array.from({ length: ENVS / 20 }, (_, index) => index * 20);
const STEP_MICROS = 10;
const SLOWDOWN = 10;
/** A life no worker reaches: the rule is looked at like any other and never fires. */
const NEVER = 1_000_000;

function faultKind(kind: string, stragglers: boolean): RigKind {
  const slow = { fault: 'slow', on: 'step', micros: STEP_MICROS * SLOWDOWN, envIds: STRAGGLERS };
  const usual = { fault: 'slow', on: 'step', micros: STEP_MICROS };
  return { kind: 'fault', config: { kind, schedule: [stragglers ? slow : { ...slow, onlyEpoch: NEVER }, usual] } };
}

/** Both sides of a ratio, the order swapped from window to window. */
async function bothSides<Side>(
  attempt: number,
  measure: (stragglers: boolean) => Side | Promise<Side>,
): Promise<{ without: Side; with: Side }> {
  const first = await measure(attempt % 2 === 1);
  const second = await measure(attempt % 2 === 0);
  return attempt % 2 === 0 ? { without: first, with: second } : { without: second, with: first };
}

const note = `${ENVS} envs of ${STEP_MICROS} us, ${STRAGGLERS.length} of them ${SLOWDOWN} times slower, 1 worker`;

async function trainedSps(context: BenchContext, stragglers: boolean): Promise<number> {
  const ppo = { horizon: 32, minibatch: 8192, epochs: 4, targetKl: 0 };
  const crew = await raiseBenchCrew(withPpo(await createRigPlan(ENVS, faultKind('cartpole', stragglers), 'ppo'), 'wasm', ppo));
  try {
    const first = await nextUpdate(crew, context.quick ? 0 : 2);
    return (await measureTrained(crew, first, context.quick ? 0 : 4000)).sps;
  } finally {
    await crew.stop();
  }
}

/** straggler_goodput_ratio: trained steps a second, a fresh crew for each side of each window. */
export const stragglerGoodputBench: Bench = {
  suite: 'ppo',
  rows: ['straggler_goodput_ratio'],
  async run(context): Promise<Row[]> {
    const windows = await takeWindows(context, { windows: context.quick ? 1 : 3, label: 'straggler_goodput_ratio' }, (attempt) =>
      bothSides(attempt, (stragglers) => trainedSps(context, stragglers)),
    );
    return [rowFrom('straggler_goodput_ratio', windows, (pair) => pair.with / pair.without, `trained steps/s, wasm; ${note}`)];
  },
};

/** straggler_saturated_ratio: frames a second of a worker that is the bottleneck. */
export const stragglerSaturatedBench: Bench = {
  suite: 'process',
  rows: ['straggler_saturated_ratio'],
  async run(context): Promise<Row[]> {
    const windowMs = context.quick ? 200 : 1000;
    const rigs: EnvRig[] = [];
    try {
      for (const stragglers of [false, true]) {
        rigs.push(await raiseEnvRig({ ...faultKind('noop', stragglers), envs: ENVS, outputs: floatOutput('vector') }));
      }
      const consume = (stragglers: boolean): Consumed => (rigs[stragglers ? 1 : 0] as EnvRig).consume(windowMs);
      consume(false);
      consume(true);
      const windows = await takeWindows(context, { windows: context.quick ? 2 : 5, label: 'straggler_saturated_ratio' }, (attempt) =>
        bothSides(attempt, consume),
      );
      const sps = (side: Consumed): number => side.frames / side.seconds;
      return [
        rowFrom('straggler_saturated_ratio', windows, (pair) => sps(pair.with) / sps(pair.without), `frames/s, worker saturated; ${note}`),
      ];
    } finally {
      for (const rig of rigs) await rig.close();
    }
  },
};
