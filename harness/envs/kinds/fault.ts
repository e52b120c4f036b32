// `fault` wraps any kind and breaks it on a seeded schedule, to prove that one bad env costs nobody else anything: it throws, sleeps,
// spins for ever, exits, segfaults, leaks, runs slow, or hands back NaN, a wrong shape, a wrong dtype or no result. The wrapped kind
// sees its own seeds and actions untouched, so an env that never fires runs exactly as it would bare.
import { z } from 'zod';
import type { TypedArray } from '../../contract/dtype.js';
import type { Env, EnvContext, EnvKind, ResetResult, Slot, StepResult } from '../../contract/env.js';
import { EnvladderError } from '../../contract/errors.js';
import { type FaultOperation, type FaultRule, type FaultSchedule, faultRuleSchema, fires } from '../fault-schedule.js';
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

/** Memory that `leak` keeps: reachable for the life of the process. */
const leaked: Buffer[] = [];
const sleepWord = new Int32Array(new SharedArrayBuffer(4));

function burnMs(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Faults that act before the wrapped call. */
function act(rule: FaultRule, where: string): void {
  switch (rule.fault) {
    case 'throw':
      throw new Error(`scheduled fault in ${where}`);
    case 'sleep':
      Atomics.wait(sleepWord, 0, 0, rule.ms);
      return;
    case 'spin':
      for (;;);
    case 'exit':
      process.exit(rule.code);
      break;
    case 'segfault':
      process.kill(process.pid, 'SIGSEGV');
      // The signal may land a moment later: nothing more of this env's work may happen.
      Atomics.wait(sleepWord, 0, 0);
      return;
    case 'leak':
      leaked.push(Buffer.alloc(Math.round(rule.megabytes * 1_048_576), 1));
  }
}

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
  const firing = (slot: Slot, on: FaultOperation): FaultRule | undefined => {
    const at = { envId: slot.envId, episode: slot.episode, step: on === 'step' ? (steps[slot.index] as number) : 0, epoch };
    for (let r = 0; r < schedule.rules.length; r++) if (fires(schedule, r, on, at)) return schedule.rules[r];
    return undefined;
  };
  const where = (slot: Slot, on: FaultOperation): string =>
    `${on} of env ${slot.envId}, episode ${slot.episode}, step ${steps[slot.index]}`;
  /** Runs a wrapped call under a rule: acts first, stretches it after. */
  const under = <Result>(slot: Slot, on: FaultOperation, rule: FaultRule | undefined, call: () => Result): Result => {
    if (rule === undefined) return call();
    act(rule, where(slot, on));
    const begin = performance.now();
    const result = call();
    if (rule.fault === 'slow') {
      burnMs(rule.micros !== undefined ? rule.micros / 1000 : (rule.factor - 1) * (performance.now() - begin));
    }
    return result;
  };
  return {
    construct: (slot) => under(slot, 'construct', firing(slot, 'construct'), () => env.construct?.(slot)),
    reset(slot, seed, options): ResetResult | undefined {
      steps[slot.index] = 0;
      const rule = firing(slot, 'reset');
      const result = under(slot, 'reset', rule, () => env.reset(slot, seed, options)) ?? undefined;
      if (rule?.fault === 'nan') poison(slot);
      if (rule?.fault === 'shape' || rule?.fault === 'dtype') return spoil(slot, rule.fault);
      return result;
    },
    step(slot, action): StepResult {
      steps[slot.index] = (steps[slot.index] as number) + 1;
      const rule = firing(slot, 'step');
      if (rule === undefined) return env.step(slot, action);
      return spoilStep(
        slot,
        rule,
        under(slot, 'step', rule, () => env.step(slot, action)),
      );
    },
    close: (slot) => under(slot, 'close', firing(slot, 'close'), () => env.close?.(slot)),
  };
}

/** The kind `fault`, able to wrap whatever `lookup` finds. `lookup` throws `bad-kind` for unknown names. */
export function createFaultKind(lookup: (name: string) => AnyKind): EnvKind<FaultConfig> {
  return {
    name: 'fault',
    version: '1.0.0',
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
