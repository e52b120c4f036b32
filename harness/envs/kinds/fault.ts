// `fault` wraps any kind and breaks it on a seeded schedule, to prove that one bad env costs nobody else anything: it throws, sleeps,
// spins for ever, exits, crashes, leaks, runs slow, blocks the event loop, never comes up, stops half-way through a frame, or hands back
// NaN, a wrong shape, a wrong dtype or no result. The wrapped kind sees its own seeds and actions untouched, so an env that never fires runs exactly as it would bare.
import { z } from 'zod';
import type { TypedArray } from '../../contract/dtype.js';
import type { Env, EnvContext, EnvKind, ResetResult, Slot, StepResult } from '../../contract/env.js';
import { EnvladderError } from '../../contract/errors.js';
import { act, burnMs, pauseMidFrame } from '../fault-acts.js';
import { type FaultOperation, type FaultRule, type FaultSchedule, faultRuleSchema, fires, waitMs } from '../fault-schedule.js';
import { parseKindConfig, resolveKindConfig } from '../kind-config.js';

const configSchema = z.strictObject({
  /** Kind to wrap. */
  kind: z.string(),
  /** Its config. */
  config: z.record(z.string(), z.unknown()).default({}),
  /** Seed of the schedule. */
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  /** Part of the envs that can break at all, chosen by env id. */
  fraction: z.number().min(0).max(1).default(1),
  schedule: z.array(faultRuleSchema).min(1, 'at least one rule is needed'),
});

interface FaultConfig {
  readonly inner: AnyKind;
  readonly innerConfig: unknown;
  readonly schedule: FaultSchedule;
}

// biome-ignore lint/suspicious/noExplicitAny: wraps kinds of every config type
type AnyKind = EnvKind<any>;

/** The slot's observation as values, the first key spoiled. */
function spoil(slot: Slot, fault: FaultRule['fault']): { obs: Record<string, TypedArray> } {
  const obs: Record<string, TypedArray> = {};
  let spoiled = false;
  for (const [key, view] of Object.entries(slot.obs)) {
    let value: TypedArray = view.slice();
    if (!spoiled) {
      spoiled = true;
      if (fault === 'shape') value = view.slice(1);
      else value = view instanceof Float64Array ? Float32Array.from(view) : Float64Array.from(view as Float32Array);
    }
    obs[key] = value;
  }
  return { obs };
}

/** Puts NaN into the first element of the first floating-point observation; false when there is none. */
function poison(slot: Slot): boolean {
  for (const view of Object.values(slot.obs)) {
    if (view instanceof Float32Array || view instanceof Float64Array) {
      view[0] = Number.NaN;
      return true;
    }
  }
  return false;
}

/** Spoils what a step handed back, as `rule` says. */
function spoilStep(slot: Slot, rule: FaultRule, result: StepResult): StepResult {
  switch (rule.fault) {
    case 'nan':
      return poison(slot) ? result : { ...result, reward: Number.NaN };
    case 'nan-reward':
      return { ...result, reward: Number.NaN };
    case 'reward-array':
      return { ...result, reward: [1] as unknown as number };
    case 'reward-bigint':
      return { ...result, reward: 1n as unknown as number };
    case 'undefined':
      return undefined as unknown as StepResult;
    case 'shape':
    case 'dtype':
      return { ...result, ...spoil(slot, rule.fault) };
    default:
      return result;
  }
}

function create(context: EnvContext<FaultConfig>): Env {
  const { inner, innerConfig, schedule } = context.config;
  const { epoch } = context;
  const env = inner.create({ ...context, config: innerConfig });
  const steps = new Uint32Array(context.capacity);
  const counts = schedule.rules.map(() => new Uint32Array(context.capacity));
  /** When an env's next fault of a rule with `perMinute` is due; 0 before its first call. */
  const dueMs = schedule.rules.map(() => new Float64Array(context.capacity));
  const lastCallMs = new Float64Array(context.capacity);
  const timed = schedule.rules.some(({ perMinute, megabytesPerSecond }) => perMinute !== undefined || megabytesPerSecond !== undefined);
  /** Counts a fault of rule `r` in, unless it is not its time or its number is used up. */
  const takes = (r: number, slot: Slot, nowMs: number): boolean => {
    const { perMinute, times } = schedule.rules[r] as FaultRule;
    const count = counts[r] as Uint32Array;
    const due = dueMs[r] as Float64Array;
    const n = count[slot.index] as number;
    if (times !== undefined && n >= times) return false;
    if (perMinute !== undefined) {
      const wait = (from: number): number => nowMs + waitMs(schedule, r, slot.envId, epoch, from);
      if (due[slot.index] === 0) due[slot.index] = wait(0);
      if (nowMs < (due[slot.index] as number)) return false;
      due[slot.index] = wait(n + 1);
    }
    count[slot.index] = n + 1;
    return true;
  };
  const firing = (slot: Slot, on: FaultOperation, nowMs: number): FaultRule | undefined => {
    const at = { envId: slot.envId, episode: slot.episode, step: on === 'step' ? (steps[slot.index] as number) : 0, epoch };
    for (let r = 0; r < schedule.rules.length; r++) if (fires(schedule, r, on, at) && takes(r, slot, nowMs)) return schedule.rules[r];
    return undefined;
  };
  const where = (slot: Slot, on: FaultOperation): string =>
    `${on} of env ${slot.envId}, episode ${slot.episode}, step ${steps[slot.index]}`;
  let idleMs = 0;
  /** The rule that fires in this call, if any; sets `idleMs`. */
  const next = (slot: Slot, on: FaultOperation): FaultRule | undefined => {
    if (!timed) return firing(slot, on, 0);
    const nowMs = performance.now();
    const lastMs = lastCallMs[slot.index] as number;
    idleMs = lastMs === 0 ? 0 : nowMs - lastMs;
    lastCallMs[slot.index] = nowMs;
    return firing(slot, on, nowMs);
  };
  /** Runs a wrapped call under a rule: acts first, stretches it after. */
  const under = <Result>(slot: Slot, on: FaultOperation, rule: FaultRule, call: () => Result): Result => {
    act(rule, where(slot, on), idleMs);
    const begin = performance.now();
    const result = rule.fault === 'pause' ? (pauseMidFrame(slot, rule, call as () => StepResult) as Result) : call();
    if (rule.fault === 'slow') {
      burnMs(rule.micros !== undefined ? rule.micros / 1000 : (rule.factor - 1) * (performance.now() - begin));
    }
    return result;
  };
  /** construct and close: what may be async may stay open. */
  const asyncCall = (slot: Slot, on: 'construct' | 'close'): void | Promise<void> => {
    const rule = next(slot, on);
    if (rule === undefined) return env[on]?.(slot);
    const result = under(slot, on, rule, () => env[on]?.(slot));
    return rule.fault === 'never' ? new Promise<void>(() => undefined) : result;
  };
  return {
    construct: (slot) => asyncCall(slot, 'construct'),
    reset(slot, seed, options): ResetResult | undefined {
      steps[slot.index] = 0;
      const rule = next(slot, 'reset');
      if (rule === undefined) return env.reset(slot, seed, options) ?? undefined;
      const result = under(slot, 'reset', rule, () => env.reset(slot, seed, options)) ?? undefined;
      if (rule.fault === 'nan') poison(slot);
      return rule.fault === 'shape' || rule.fault === 'dtype' ? spoil(slot, rule.fault) : result;
    },
    step(slot, action): StepResult {
      steps[slot.index] = (steps[slot.index] as number) + 1;
      const rule = next(slot, 'step');
      if (rule === undefined) return env.step(slot, action);
      return spoilStep(
        slot,
        rule,
        under(slot, 'step', rule, () => env.step(slot, action)),
      );
    },
    close: (slot) => asyncCall(slot, 'close'),
  };
}

/** The kind `fault`, able to wrap whatever `lookup` finds. `lookup` throws `bad-kind` for unknown names. */
export function createFaultKind(lookup: (name: string) => AnyKind): EnvKind<FaultConfig> {
  return {
    name: 'fault',
    version: '1.1.0',
    summary: 'wraps any kind and breaks it on a seeded schedule (see docs/kinds/fault.md)',
    parseConfig(config) {
      const given = parseKindConfig('fault', configSchema, config);
      if (given.kind === 'fault') {
        throw new EnvladderError('bad-kind', "env kind 'fault': config.kind: cannot wrap itself; put all rules into one schedule", {
          detail: { kind: 'fault' },
        });
      }
      const inner = lookup(given.kind);
      return {
        inner,
        innerConfig: resolveKindConfig(inner, given.config),
        schedule: { seed: given.seed, fraction: given.fraction, rules: given.schedule },
      };
    },
    spaces: (config) => config.inner.spaces(config.innerConfig),
    timeLimit: (config) => config.inner.timeLimit?.(config.innerConfig),
    create,
    sources: [import.meta.url],
  };
}
