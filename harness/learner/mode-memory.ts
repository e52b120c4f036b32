// What modes remember, by env id and by task name, as a checkpoint keeps it. An env that a checkpoint knows but this learner has not taken in
// yet (a later tier) keeps its numbers here until it comes, and through every checkpoint written meanwhile.
//
//   numbers   envs x (1 + columns): env id, then its columns; after them tasks x MOMENT_COLUMNS
import type { PpoConfig } from '../contract/ppo-config.js';
import { MOMENT_COLUMNS, type Moments } from './moments.js';

export interface ModeNames {
  readonly env_weights: NonNullable<PpoConfig['envWeights']>;
  readonly reward_norm: NonNullable<PpoConfig['rewardNorm']>;
  readonly exploration: NonNullable<PpoConfig['exploration']>;
}

export interface ModeState extends ModeNames {
  readonly envs: number;
  /** Names of mix entries, in the order of their numbers. */
  readonly tasks: readonly string[];
  readonly numbers: Float32Array;
}

export const MODES_OFF: ModeNames = { env_weights: 'off', reward_norm: 'off', exploration: 'off' };

/** Modes that are not what they were, as text. */
export function modeDifferences(before: ModeNames | null, now: ModeNames): string[] {
  const was = before ?? MODES_OFF;
  return (['env_weights', 'reward_norm', 'exploration'] as const)
    .filter((mode) => was[mode] !== now[mode])
    .map((mode) => `${mode} was '${was[mode]}', is '${now[mode]}'`);
}

/** Numbers of a state with so many envs and tasks. */
export function modeNumbers(envs: number, tasks: number, columns: number): number {
  return envs * (1 + columns) + tasks * MOMENT_COLUMNS;
}

export interface ModeMemoryOptions {
  readonly modes: ModeNames;
  /** Numbers kept per env: those of the scores, then from `rewardAt` on those of the rewards. */
  readonly columns: number;
  readonly rewardAt: number;
  save(row: number, into: Float32Array, at: number): void;
  /** All zero: nothing is known. */
  load(row: number, from: Float32Array, at: number): void;
  /** Moments per task, where a mode keeps some. */
  readonly tasks: Moments | null;
}

export interface ModeMemory {
  taskNumber(task: string): number;
  /** After the modes have grown by as many rows. */
  addRows(count: number, firstEnvId: number, task: string): void;
  state(): ModeState;
  restore(state: ModeState | null): string[];
}

export function createModeMemory({ modes, columns, rewardAt, save, load, tasks }: ModeMemoryOptions): ModeMemory {
  const envIds: number[] = [];
  const taskNames: string[] = [];
  /** By env id, of envs not taken in yet. */
  const waiting = new Map<number, Float32Array>();
  const waitingTasks = new Map<string, Float32Array>();

  const taskNumber = (task: string): number => {
    const known = taskNames.indexOf(task);
    return known >= 0 ? known : taskNames.push(task) - 1;
  };
  return {
    taskNumber,
    addRows(count, firstEnvId, task) {
      for (let i = 0; i < count; i++) {
        const row = envIds.push(firstEnvId + i) - 1;
        const kept = waiting.get(firstEnvId + i);
        if (kept === undefined) continue;
        waiting.delete(firstEnvId + i);
        load(row, kept, 0);
      }
      const kept = waitingTasks.get(task);
      if (kept === undefined || tasks === null) return;
      waitingTasks.delete(task);
      tasks.load(taskNumber(task), kept, 0);
    },
    state() {
      const names = tasks === null ? [] : [...taskNames, ...waitingTasks.keys()];
      const envs = envIds.length + waiting.size;
      const numbers = new Float32Array(modeNumbers(envs, names.length, columns));
      let at = 0;
      envIds.forEach((envId, row) => {
        numbers[at] = envId;
        save(row, numbers, at + 1);
        at += 1 + columns;
      });
      for (const [envId, kept] of waiting) {
        numbers[at] = envId;
        numbers.set(kept, at + 1);
        at += 1 + columns;
      }
      for (const [place, name] of names.entries()) {
        if (place < taskNames.length) tasks?.save(place, numbers, at);
        else numbers.set(waitingTasks.get(name) as Float32Array, at);
        at += MOMENT_COLUMNS;
      }
      return { ...modes, envs, tasks: names, numbers };
    },
    restore(state) {
      const differ = modeDifferences(state, modes);
      if (state === null) return differ;
      const sameRewards = state.reward_norm === modes.reward_norm;
      for (let i = 0; i < state.envs; i++) {
        const at = i * (1 + columns);
        const kept = state.numbers.slice(at + 1, at + 1 + columns);
        // Scores mean the same under every mode that keeps them; rewards of another scale are worth nothing.
        if (!sameRewards) kept.fill(0, rewardAt);
        waiting.set(state.numbers[at] as number, kept);
      }
      if (!sameRewards) return differ;
      state.tasks.forEach((task, i) => {
        const at = state.envs * (1 + columns) + i * MOMENT_COLUMNS;
        waitingTasks.set(task, state.numbers.slice(at, at + MOMENT_COLUMNS));
      });
      return differ;
    },
  };
}
