// The learning rate as a function of the transitions trained so far, over resumed runs together. Pure.
import type { PpoConfig } from '../contract/ppo-config.js';

/** `linear` falls from `learningRate` to zero over `scheduleSteps`; `constant` does not. */
export function learningRateAt(config: Pick<PpoConfig, 'learningRate' | 'schedule' | 'scheduleSteps'>, trained: number): number {
  if (config.schedule === 'constant') return config.learningRate;
  return config.learningRate * Math.max(0, 1 - trained / config.scheduleSteps);
}
