// When and where the `fault` kind breaks: rules read from its config, decided by a counter-based draw of (schedule seed, env id, episode,
// step, rule), so that a run with faults is repeated exactly, whatever worker owns the env. Pure but for its parsing.
import { z } from 'zod';
import { philox4x32 } from './philox.js';

/** Faults that act by themselves, in any operation. */
export const ACTIVE_FAULTS = ['throw', 'sleep', 'spin', 'exit', 'segfault', 'abort', 'leak', 'slow', 'block'] as const;
/** A promise that stays open, from what may be async. */
export const OPEN_FAULTS = ['never'] as const;
/** Stops in the middle of writing an observation. */
export const FRAME_FAULTS = ['pause'] as const;
/** Faults in what `step` or `reset` hands back. */
export const VALUE_FAULTS = ['nan', 'shape', 'dtype'] as const;
/** Faults in what only `step` hands back. */
export const STEP_FAULTS = ['nan-reward', 'reward-array', 'reward-bigint', 'undefined'] as const;

export const faultRuleSchema = z
  .strictObject({
    fault: z.enum([...ACTIVE_FAULTS, ...OPEN_FAULTS, ...FRAME_FAULTS, ...VALUE_FAULTS, ...STEP_FAULTS]),
    on: z.enum(['construct', 'reset', 'step', 'close']).default('step'),
    /** Chance per call, 0..1. Left out: certain (where the other conditions hold). */
    probability: z.number().min(0).max(1).optional(),
    /** Instead: so many a minute of each env's time, at seeded random moments. */
    perMinute: z.number().positive().max(60_000).optional(),
    /** At most so often for one env in one life of its worker. */
    times: z.int().positive().optional(),
    /** Only at this step of an episode, from 1. */
    atStep: z.int().positive().optional(),
    /** Only in the episode of this number: from 0 in the worker's first life, from life * 2^20 in later ones. */
    episode: z.int().nonnegative().optional(),
    /** Only these env ids; else those chosen by `fraction` of the schedule. */
    envIds: z.array(z.int().nonnegative()).optional(),
    /** Only in this life of the worker, from 0: a restarted worker does not die of the same fault again. */
    onlyEpoch: z.int().nonnegative().optional(),
    /** sleep: milliseconds off the CPU (100). block, pause with wait: how long; left out: for ever. */
    ms: z.number().min(0).max(3_600_000).optional(),
    /** leak: megabytes kept for ever... */
    megabytes: z.number().positive().max(65_536).default(1),
    /** ...or, when given, so many a second since the env's last call. */
    megabytesPerSecond: z.number().positive().max(65_536).optional(),
    /** pause: SIGSTOP to the own process, or a wait off the CPU. */
    how: z.enum(['stop', 'wait']).default('stop'),
    /** exit: the exit code. */
    code: z.int().min(0).max(255).default(7),
    /** slow: the call takes this many times as long... */
    factor: z.number().min(1).max(1_000_000).default(10),
    /** ...or, when given, burns this many microseconds more. */
    micros: z.number().positive().max(60_000_000).optional(),
  })
  .superRefine((rule, context) => {
    const stepOnly = (STEP_FAULTS as readonly string[]).includes(rule.fault);
    const value = stepOnly || (VALUE_FAULTS as readonly string[]).includes(rule.fault);
    const refuse = (): void => context.addIssue({ code: 'custom', path: ['on'], message: `${rule.fault} cannot happen on ${rule.on}` });
    if (stepOnly && rule.on !== 'step') refuse();
    const frameOnly = value || (FRAME_FAULTS as readonly string[]).includes(rule.fault);
    if (frameOnly && rule.on !== 'step' && rule.on !== 'reset') refuse();
    if ((OPEN_FAULTS as readonly string[]).includes(rule.fault) && rule.on !== 'construct' && rule.on !== 'close') refuse();
    if (rule.perMinute !== undefined && rule.probability !== undefined) {
      context.addIssue({ code: 'custom', path: ['perMinute'], message: 'is instead of probability; give one of them' });
    }
    if (rule.atStep !== undefined && rule.on !== 'step') {
      context.addIssue({ code: 'custom', path: ['atStep'], message: 'atStep needs on: step' });
    }
  });
export type FaultRule = z.output<typeof faultRuleSchema>;
export type FaultOperation = FaultRule['on'];

export interface FaultSchedule {
  readonly seed: number;
  /** Part of the envs that can break at all. */
  readonly fraction: number;
  readonly rules: readonly FaultRule[];
}

const words = new Int32Array(4);
const TWO_POW_32 = 4294967296;
/** Third counter word's neighbours: keeps the choice of envs apart from the draws of their steps. */
const CHOICE = 0xffffffff;

function draw(seed: number, step: number, rule: number, envId: number, episode: number): number {
  philox4x32(step, rule, envId, episode, seed | 0, Math.floor(seed / TWO_POW_32) | 0, words);
  return ((words[0] as number) >>> 0) / TWO_POW_32;
}

/** Whether an env is among the part that can break. */
export function isChosen(schedule: FaultSchedule, envId: number): boolean {
  return schedule.fraction >= 1 || draw(schedule.seed, CHOICE, CHOICE, envId, CHOICE) < schedule.fraction;
}

/** Rules draw their waits apart from their chances. */
const WAITS = 0x10000;

/** Milliseconds between an env's n-th and next fault of a rule with `perMinute`, n from 0: exponential, so that faults come as by chance. */
export function waitMs(schedule: FaultSchedule, index: number, envId: number, epoch: number, n: number): number {
  const perMinute = schedule.rules[index]?.perMinute;
  if (perMinute === undefined) return 0;
  return (-Math.log(1 - draw(schedule.seed, n, WAITS + index, envId, epoch)) * 60_000) / perMinute;
}

/** Whether the conditions of rule `index` hold in this call, its chance included; `times` and `perMinute` are the caller's to count. `step` counts from 1 and is 0 outside `step`. */
export function fires(
  schedule: FaultSchedule,
  index: number,
  operation: FaultOperation,
  at: { readonly envId: number; readonly episode: number; readonly step: number; readonly epoch: number },
): boolean {
  const rule = schedule.rules[index];
  if (rule === undefined || rule.on !== operation) return false;
  if (rule.onlyEpoch !== undefined && rule.onlyEpoch !== at.epoch) return false;
  if (rule.envIds !== undefined ? !rule.envIds.includes(at.envId) : !isChosen(schedule, at.envId)) return false;
  if (rule.atStep !== undefined && rule.atStep !== at.step) return false;
  if (rule.episode !== undefined && rule.episode !== at.episode) return false;
  return rule.probability === undefined || draw(schedule.seed, at.step, index, at.envId, at.episode) < rule.probability;
}
