// A small task that an env of a learning claim solves: many of them share one policy, so all have the same spaces. The observation names the
// task and holds FEATURES numbers of its own; there are ACTIONS actions. Pure but for the random numbers that are handed in.
import { TERMINATED, TRUNCATED } from '../../contract/frame-flags.js';

export const ACTIONS = 3;
export const FEATURES = 4;

/** One env of a task: where it stands. */
export interface TaskState {
  /** Steps of the episode. */
  step: number;
  place: number;
  random: () => number;
}

export interface Task {
  readonly name: string;
  readonly what: string;
  /** Undiscounted return of the best policy; null where no policy can do better than another. */
  readonly best: number | null;
  /** Steps after which an episode is cut. */
  readonly limit: number;
  /** Puts the env at the start. */
  readonly begin: (state: TaskState) => void;
  /** Moves on; returns the reward. `state.step` counts this step already. */
  readonly move: (state: TaskState, action: number) => { readonly reward: number; readonly ends: boolean };
  /** The task's own part of the observation. */
  readonly show: (state: TaskState, into: Float32Array, at: number) => void;
}

export interface Stepped {
  readonly reward: number;
  /** TERMINATED, TRUNCATED, both or 0. */
  readonly flags: number;
}

export function resetTask(task: Task, state: TaskState): void {
  state.step = 0;
  state.place = 0;
  task.begin(state);
}

export function stepTask(task: Task, state: TaskState, action: number): Stepped {
  state.step++;
  const { reward, ends } = task.move(state, action);
  return { reward, flags: (ends ? TERMINATED : 0) | (state.step >= task.limit ? TRUNCATED : 0) };
}

/** Mean return of uniform actions: the zero of a task's score. Equal for equal seeds. */
export function uniformReturn(task: Task, random: () => number, episodes = 400): number {
  const state: TaskState = { step: 0, place: 0, random };
  let sum = 0;
  for (let episode = 0; episode < episodes; episode++) {
    resetTask(task, state);
    for (let flags = 0; flags === 0; ) {
      const stepped = stepTask(task, state, Math.floor(ACTIONS * random()));
      sum += stepped.reward;
      flags = stepped.flags;
    }
  }
  return sum / episodes;
}
