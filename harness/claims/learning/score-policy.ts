// What a policy earns on each task by itself: episodes of its own samples, no exploration, no weights, rewards as the task pays them. The
// policy is only read; its training is not disturbed.
import { seededRandom } from '../../chaos/seeded-random.js';
import { noiseKey } from '../../learner/noise.js';
import type { Policy } from '../../learner/policy.js';
import { resetTask, stepTask, type Task, type TaskState, uniformReturn } from './task.js';
import { observationSize, showTask } from './task-rig.js';

/** Streams of evaluations lie far from those of the training envs. */
const STREAM = 1_000_000;

export interface Scorer {
  /** By task with a best return: 0 = uniform actions, 1 = the best policy. Rewards of broken tasks are nobody's merit and left out. */
  score(policy: Policy, round: number): ReadonlyMap<string, number>;
}

/** Scores on `episodes` episodes per task; equal seeds and rounds mean equal tasks for every policy. */
export function createScorer(tasks: readonly Task[], episodes: number, seed: number): Scorer {
  const columns = observationSize(tasks.length);
  const floors = tasks.map((task) => uniformReturn(task, seededRandom(seed, STREAM - 1)));
  const earn = (policy: Policy, index: number, round: number): number => {
    const task = tasks[index] as Task;
    const key = noiseKey(seed, `score ${task.name} ${round}`);
    const open = Array.from({ length: episodes }, (_, i) => ({
      id: i,
      state: { step: 0, place: 0, random: seededRandom(seed, STREAM + round * 4096 + i) } satisfies TaskState,
    }));
    for (const { state } of open) resetTask(task, state);
    const action = new Float32Array(policy.head.actionLength);
    const observations = new Float32Array(episodes * columns);
    let sum = 0;
    for (let left = open; left.length > 0; ) {
      left.forEach(({ state }, i) => {
        showTask(tasks, index, state, observations, i * columns);
      });
      const { outputs } = policy.network.infer([observations], left.length);
      left = left.filter(({ id, state }, i) => {
        policy.head.sample(outputs, i, policy.free, { key, envId: id, draw: state.step }, action, 0);
        const { reward, flags } = stepTask(task, state, action[0] as number);
        sum += reward;
        return flags === 0;
      });
    }
    return sum / episodes;
  };
  return {
    score(policy, round) {
      const scores = new Map<string, number>();
      tasks.forEach((task, index) => {
        const floor = floors[index] as number;
        if (task.best !== null) scores.set(task.name, (earn(policy, index, round) - floor) / (task.best - floor));
      });
      return scores;
    },
  };
}
