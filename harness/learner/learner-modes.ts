// The modes that a plan switched on beside plain PPO, and what they remember of each env: made with the policy, fed by its agent, asked by its
// update, kept in its checkpoints. A policy without modes has no such object, and its path is the old one.
import { ABANDONED, DONE, FIRST, QUARANTINED } from '../contract/frame-flags.js';
import type { PpoConfig } from '../contract/ppo-config.js';
import type { BatchReader } from '../memory/interface.js';
import { createEnvScores, type EnvScores, SCORE_COLUMNS } from './env-scores.js';
import { accountWeights, importanceWeights, type SampleWeights } from './env-weights.js';
import { createExploration, type Exploration } from './exploration.js';
import { createModeMemory, type ModeState } from './mode-memory.js';
import { MOMENT_COLUMNS } from './moments.js';
import { createRewardNorm, type RewardNorm } from './reward-norm.js';
import type { Shuffler } from './shuffler.js';

/** Frames without a reward of their own: what comes after them begins anew. */
const NO_STEP = FIRST | ABANDONED | QUARANTINED;

/** Numbers kept per env in a checkpoint. */
export const MODE_COLUMNS = SCORE_COLUMNS + MOMENT_COLUMNS;

export interface LearnerModes {
  /** Null when no mode needs scores. */
  readonly scores: EnvScores | null;
  readonly rewardNorm: RewardNorm | null;
  readonly exploration: Exploration | null;
  addRows(count: number, firstEnvId: number, task: string): void;
  /** Takes in the episodes that ended in the reader's last batch. */
  endEpisodes(reader: Pick<BatchReader, 'episodeCount' | 'episodeRow' | 'episodeReturn'>): void;
  /** The reward to store for a frame of `row`. */
  reward(row: number, flags: number, reward: number): number;
  /** What an update multiplies the row's stored rewards with. */
  rewardScale(row: number): number;
  /** Null: all samples of the update count alike. */
  weigh(advantages: Float32Array, rows: Int32Array, horizon: number, shuffler: Shuffler): SampleWeights | null;
  /** For a checkpoint. */
  state(): ModeState;
  /** Before any row was added. Takes over what was kept by equal modes; names those that differ, whose memory starts fresh. */
  restore(state: ModeState | null): string[];
}

/** Bytes per env that the modes of a plan keep in memory, and in one checkpoint. */
export function modeBytesPerEnv(config: PpoConfig): { readonly memory: number; readonly checkpoint: number } {
  const { envWeights = 'off', exploration = 'off', rewardNorm = 'off', horizon } = config;
  if (envWeights === 'off' && exploration === 'off' && rewardNorm === 'off') return { memory: 0, checkpoint: 0 };
  const ratios = exploration === 'temperature' ? 4 * (horizon + 1) : 0;
  return { memory: 8 * (MODE_COLUMNS + 1) + ratios, checkpoint: 4 * (MODE_COLUMNS + 1) };
}

/** Null when all modes are off. */
export function createLearnerModes(config: PpoConfig): LearnerModes | null {
  const { envWeights = 'off', exploration = 'off', rewardNorm: rewardMode = 'off' } = config;
  if (envWeights === 'off' && exploration === 'off' && rewardMode === 'off') return null;
  const scores = envWeights === 'account' || exploration !== 'off' ? createEnvScores() : null;
  const rewardNorm = createRewardNorm(config);
  const explorer = createExploration(config, scores);
  const perEnv = rewardNorm?.mode === 'account' ? rewardNorm.moments : null;
  const memory = createModeMemory({
    modes: { env_weights: envWeights, reward_norm: rewardMode, exploration },
    columns: MODE_COLUMNS,
    rewardAt: SCORE_COLUMNS,
    save(row, into, at) {
      scores?.save(row, into, at);
      perEnv?.save(row, into, at + SCORE_COLUMNS);
    },
    load(row, from, at) {
      scores?.load(row, from, at);
      perEnv?.load(row, from, at + SCORE_COLUMNS);
    },
    tasks: rewardNorm?.mode === 'return-std' ? rewardNorm.moments : null,
  });
  return {
    scores,
    rewardNorm,
    exploration: explorer,
    addRows(count, firstEnvId, task) {
      scores?.addRows(count);
      explorer?.addPlaces(count * (config.horizon + 1));
      rewardNorm?.addRows(count, memory.taskNumber(task));
      memory.addRows(count, firstEnvId, task);
    },
    endEpisodes({ episodeCount, episodeRow, episodeReturn }) {
      if (scores === null) return;
      for (let i = 0; i < episodeCount; i++) scores.add(episodeRow[i] as number, episodeReturn[i] as number);
    },
    reward(row, flags, reward) {
      if (rewardNorm === null) return reward;
      if ((flags & NO_STEP) === 0) return rewardNorm.see(row, reward, (flags & DONE) !== 0);
      rewardNorm.begin(row);
      return reward;
    },
    rewardScale: (row) => rewardNorm?.scale(row) ?? 1,
    weigh(advantages, rows, horizon, shuffler) {
      if (envWeights === 'importance') return importanceWeights(advantages, rows.length, horizon, shuffler);
      return envWeights === 'account' && scores !== null ? accountWeights(scores, rows, horizon, shuffler) : null;
    },
    state: memory.state,
    restore: memory.restore,
  };
}
