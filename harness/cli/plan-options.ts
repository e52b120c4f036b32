// Options that `ladder`, `plan` and `doctor` share: which plan, and what overrides it. Values stay text here; the plan's own checks
// read them, so that a flag and a line of YAML are judged alike.
import type { Command } from 'commander';
import type { PlanFlags } from '../ladder/plan-flags.js';

export interface PlanOptions extends PlanFlags {
  readonly plan?: string;
  readonly out?: string;
}

/** Adds the options. */
export function addPlanOptions(command: Command): Command {
  return command
    .option('--tiers <list>', 'envs of each tier, rising: 1000,3000,5000')
    .option('--seconds <n>', 'measured seconds of every tier')
    .option('--kind <name>', 'run this env kind alone (see: envladder env list)')
    .option('--mix <list>', 'shares of several kinds, summing to 1: cartpole=0.5,field=0.5')
    .option('--module <file>', 'module with env kinds of your own (.ts, .js, .mjs)')
    .option('--workers <n>', 'env worker processes; 0 = cores - 1')
    .option('--learner <mode>', 'ppo (trains), random (random actions), none (constant actions)')
    .option('--backend <name>', 'auto, tfjs-node-gpu, tfjs-node, wasm')
    .option('--autoreset <mode>', 'next-step, same-step, disabled')
    .option('--check <level>', 'how much of what envs return is checked: full, sampled, off')
    .option('--seed <n>', 'base seed of every random stream');
}
