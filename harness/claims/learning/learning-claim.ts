// What the learning claims share: their sizes, metrics and the way a side is run. A claim adds its mix, its sides (learner modes) and its rule.
import type { ClaimMetric } from '../../contract/claims-record.js';
import type { ClaimContext, Measured, SideBodies } from '../claim.js';
import { type Learned, type LearnRequest, type LearnSize, SHARED_PPO, TARGET_SCORE } from './learn-mix.js';
import { startLearnProcess } from './learn-process.js';
import { describeMix, MIXES, type MixName } from './tasks.js';

const SIZES: Readonly<Record<'full' | 'quick' | 'tiny', LearnSize>> = {
  full: { envsPerTask: 32, updates: 40, scoreEvery: 2, scoreEpisodes: 16 },
  quick: { envsPerTask: 16, updates: 30, scoreEvery: 3, scoreEpisodes: 8 },
  tiny: { envsPerTask: 4, updates: 3, scoreEvery: 1, scoreEpisodes: 2 },
};

/** How metrics of a mix are marked where a claim has several, and how much longer its runs are. */
const MARKS: Readonly<Record<MixName, { readonly id: string; readonly words: string; readonly length: number }>> = {
  stability: { id: '', words: '', length: 1 },
  'stability-long': { id: 'long-', words: ', longer chains', length: 1.5 },
  scales: { id: '', words: '', length: 1 },
};

/** Metrics of every learning claim; the first is the headline. */
export function learningMetrics(...mixes: readonly MixName[]): ClaimMetric[] {
  return mixes.flatMap((mix) => {
    const learnable = MIXES[mix].filter(({ best }) => best !== null);
    const metrics: ClaimMetric[] = [
      { id: 'steps-to-target', name: `env steps to a mean score of ${TARGET_SCORE}`, unit: 'steps', better: 'lower', kind: 'time' },
      { id: 'final-score', name: 'final score, every task alike', unit: '', better: 'higher', kind: 'share' },
      ...learnable.map(
        ({ name }): ClaimMetric => ({ id: `score-${name}`, name: `final score of ${name}`, unit: '', better: 'higher', kind: 'share' }),
      ),
      { id: 'roughness', name: 'mean step of the curve, up or down', unit: '', better: 'lower', kind: 'share' },
      { id: 'loss-variance', name: 'variance of the loss over updates', unit: '', better: 'lower', kind: 'share' },
      { id: 'reached', name: 'runs that reached the target', unit: '', better: 'higher', kind: 'share' },
      { id: 'env-steps', name: 'env steps taken', unit: 'steps', better: 'higher', kind: 'count' },
    ];
    const mark = MARKS[mix];
    return metrics.map((metric) => ({ ...metric, id: `${mark.id}${metric.id}`, name: `${metric.name}${mark.words}` }));
  });
}

function taken(learned: Learned, mix: MixName): Record<string, number> {
  const values = {
    'steps-to-target': learned.stepsToTarget,
    'final-score': learned.finalScore,
    ...Object.fromEntries(Object.entries(learned.finalScores).map(([name, score]) => [`score-${name}`, score])),
    roughness: learned.roughness,
    'loss-variance': learned.lossVariance,
    reached: learned.reached ? 1 : 0,
    'env-steps': learned.framesTaken,
  };
  return Object.fromEntries(Object.entries(values).map(([id, value]) => [`${MARKS[mix].id}${id}`, value]));
}

/** The method in words, for `register`. */
export const LEARNING_METHOD =
  'One run per seed and side, all sides with the same seeds, envs, updates and hyper-parameters; the steps of the learner are those of a real run, ' +
  'in one process, so equal seeds repeat bit by bit. Scores come from episodes of the policy alone, without exploration or weights, on the rewards ' +
  'that the tasks pay: 0 is uniform actions, 1 the best policy. Ratios are taken within a seed.';

/** Runs every side with the seeds of this claim. */
export async function measureLearning(
  context: ClaimContext,
  mixes: readonly MixName[],
  sides: Readonly<Record<string, LearnRequest['modes']>>,
): Promise<Measured> {
  const size = SIZES[context.size];
  const learner = startLearnProcess();
  try {
    const bodies = Object.fromEntries(
      Object.entries(sides).map(([side, modes]): [string, SideBodies[string]] => [
        side,
        async (repeat) => {
          const values: Record<string, number> = {};
          for (const mix of mixes) {
            const sized = { ...size, updates: Math.ceil(size.updates * MARKS[mix].length) };
            const learned = await learner.learn({ mix, modes, seed: 1000 * context.seed + repeat, size: sized }, context.signal);
            // Interrupted: the rounds before this one stay.
            if (learned === null) return {};
            if (learned.framesTaken !== learned.framesAccounted)
              throw new Error(`${side}: ${learned.framesTaken} frames were taken, ${learned.framesAccounted} have a fate`);
            Object.assign(values, taken(learned, mix));
          }
          return values;
        },
      ]),
    );
    return {
      // Seeds differ far more than machines do: two for every repeat that was asked for.
      samples: await context.interleave(bodies, { repeats: context.pick({ full: 2, quick: 1, tiny: 1 }) * context.repeats }),
      conditions: {
        ...Object.fromEntries(mixes.map((mix) => [`mix${MARKS[mix].words}`, describeMix(mix)])),
        envs: `${size.envsPerTask} per task, one policy for all`,
        training: `${mixes.map((mix) => `${Math.ceil(size.updates * MARKS[mix].length)}${MARKS[mix].words}`).join(' and ')} updates per run, scored every ${size.scoreEvery} on ${size.scoreEpisodes} episodes per task`,
        ppo: SHARED_PPO,
        seeds: 'two for every repeat asked for (one with --quick), the same for all sides',
        backend: 'TensorFlow.js on wasm',
      },
      notes: ['A run that never reached the target counts with all its steps, which flatters it.'],
    };
  } finally {
    await learner.stop();
  }
}
