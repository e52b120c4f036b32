// "The GPU is 89.7 % busy at 3,800 to 5,200 samples a second": PPO on the GPU under a running ladder, watched by nvidia-smi, and the same on the
// CPU as a reference. Where a learner's time goes is in the phases of its record. Only on a machine with a GPU and the backend for it.
import { backendProblem } from '../../ladder/backend-probe.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { gpuProblem, watchGpu } from '../rigs/gpu-watch.js';
import { runLadderOf } from '../rigs/ladder-run.js';

const BACKENDS = { gpu: 'tfjs-node-gpu', cpu: 'wasm' } as const;

async function takeSide(context: ClaimContext, side: keyof typeof BACKENDS): Promise<Taken> {
  const watch = watchGpu();
  try {
    const record = await runLadderOf(context, {
      name: `gpu-90 ${side}`,
      tiers: [context.pick({ full: 1000, quick: 500, tiny: 50 })],
      seconds: context.pick({ full: 60, quick: 15, tiny: 3 }),
      mix: { field: 1 },
      learner: 'ppo',
      backend: BACKENDS[side],
      minStepsPerEnv: 0,
      minUpdates: 0,
    });
    const tier = record.tiers[0];
    if (tier === undefined) throw new Error('the ladder has no tier');
    const phases = Object.values(tier.phase_seconds).reduce((sum, seconds) => sum + seconds, 0);
    const share = (...names: string[]): number =>
      names.reduce((sum, name) => sum + (tier.phase_seconds[name] ?? 0), 0) / Math.max(1e-9, phases);
    const busy = watch.readings.reduce((sum, value) => sum + value, 0) / Math.max(1, watch.readings.length);
    return {
      ...(side === 'gpu' ? { busy } : {}),
      samples: tier.training_sps,
      'share-train': share('train'),
      'share-infer': share('infer'),
      'share-sample': share('collect', 'act', 'store', 'wait'),
    };
  } finally {
    await watch.stop();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const samples = await context.interleave({ gpu: () => takeSide(context, 'gpu'), cpu: () => takeSide(context, 'cpu') });
  return {
    samples,
    conditions: { envs: `${context.pick({ full: 1000, quick: 500, tiny: 50 })} field`, learner: "PPO, the plan's own settings" },
    notes: ['Busy is what nvidia-smi calls utilisation: the part of the time in which any kernel ran, not how much of the GPU it used.'],
  };
}

export const gpu90: Claim = {
  id: 'gpu-90',
  said: { text: 'the GPU is 89.7 % busy while 3,800 to 5,200 samples a second are trained', value: 89.7, unit: '%' },
  question: 'How busy is the GPU under PPO, and where does the time of the learner go?',
  register: () => ({
    sides: [
      { name: 'gpu', role: 'account', what: 'PPO with TensorFlow on the GPU' },
      { name: 'cpu', role: 'reference', what: 'the same plan with the wasm backend' },
    ],
    metrics: [
      { id: 'busy', name: 'GPU busy', unit: '%', better: 'higher', kind: 'rate' },
      { id: 'samples', name: 'trained', unit: 'samples/s', better: 'higher', kind: 'rate' },
      { id: 'share-train', name: 'learner time in training', unit: 'of its time', better: 'higher', kind: 'share' },
      { id: 'share-infer', name: 'learner time in inference', unit: 'of its time', better: 'lower', kind: 'share' },
      { id: 'share-sample', name: 'learner time in sampling and waiting', unit: 'of its time', better: 'lower', kind: 'share' },
    ],
    rule: 'held when the GPU is at least 85 % busy (89.7 % less 5 %) and at least 3,800 samples a second are trained',
    rules: [
      { type: 'value', metric: 'busy', side: 'gpu', relation: 'at-least', bound: 85 },
      { type: 'value', metric: 'samples', side: 'gpu', relation: 'at-least', bound: 3800 },
    ],
    tests: 'figure',
    method: 'A ladder of its own per repeat; nvidia-smi is read twice a second from its start to its end, start-up included.',
  }),
  needs: () => gpuProblem() ?? backendProblem('tfjs-node-gpu'),
  run,
};
