// The command-line flags that override a plan's fields. Flags are laid over the file's raw values and go through the same checks, so
// that a bad flag and a bad line read alike. Pure.
import { EnvladderError } from '../contract/errors.js';

/** Flags as commander hands them over: text, unread. */
export interface PlanFlags {
  readonly tiers?: string;
  readonly seconds?: string;
  readonly kind?: string;
  readonly mix?: string;
  readonly workers?: string;
  readonly learner?: string;
  readonly seed?: string;
  readonly module?: string;
  readonly check?: string;
  readonly backend?: string;
  readonly autoreset?: string;
}

export interface FlaggedPlan {
  readonly value: Record<string, unknown>;
  /** Top-level field -> the flag that set it. */
  readonly flagOf: ReadonlyMap<string, string>;
}

/** A number where the text is one; else the text itself, for the schema to refuse with the field's own message. */
function numberOrText(text: string): number | string {
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) ? value : text;
}

function readMix(text: string): Record<string, unknown> {
  const mix: Record<string, unknown> = {};
  for (const part of text
    .split(',')
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')) {
    const [kind, share, ...rest] = part.split('=');
    if (kind === undefined || kind === '' || share === undefined || share === '' || rest.length > 0) {
      throw new EnvladderError('bad-usage', `--mix: '${part}' is not KIND=SHARE; write --mix cartpole=0.5,field=0.5 (shares sum to 1)`);
    }
    if (kind in mix) throw new EnvladderError('bad-usage', `--mix: '${kind}' is given twice; give each kind once`);
    mix[kind] = numberOrText(share);
  }
  return mix;
}

/** --kind K keeps what the plan says about K (its config), and makes it the whole mix. */
function onlyKind(kind: string, mix: unknown): Record<string, unknown> {
  const entry = typeof mix === 'object' && mix !== null ? (mix as Record<string, unknown>)[kind] : undefined;
  return { [kind]: typeof entry === 'object' && entry !== null ? { ...entry, share: 1 } : 1 };
}

/** --seconds holds for every tier, also for those that say seconds themselves. */
function withoutTierSeconds(tiers: unknown): unknown {
  if (!Array.isArray(tiers)) return tiers;
  return tiers.map((tier: unknown) => {
    if (typeof tier !== 'object' || tier === null) return tier;
    const { seconds: _own, ...rest } = tier as Record<string, unknown>;
    return rest;
  });
}

/** Lays the flags over a plan's raw values. Throws `bad-usage` for flags that cannot be read or exclude each other. */
export function applyFlags(raw: Readonly<Record<string, unknown>>, flags: PlanFlags): FlaggedPlan {
  const value: Record<string, unknown> = { ...raw };
  const flagOf = new Map<string, string>();
  const set = (field: string, flag: string, to: unknown): void => {
    value[field] = to;
    flagOf.set(field, flag);
  };
  if (flags.kind !== undefined && flags.mix !== undefined) {
    throw new EnvladderError('bad-usage', '--kind and --mix exclude each other: --kind K runs one kind, --mix A=0.5,B=0.5 several');
  }
  if (flags.tiers !== undefined)
    set(
      'tiers',
      '--tiers',
      flags.tiers.split(',').map((tier) => numberOrText(tier)),
    );
  if (flags.seconds !== undefined) {
    set('seconds', '--seconds', numberOrText(flags.seconds));
    value.tiers = withoutTierSeconds(value.tiers);
  }
  if (flags.kind !== undefined) set('mix', '--kind', onlyKind(flags.kind, raw.mix));
  if (flags.mix !== undefined) set('mix', '--mix', readMix(flags.mix));
  if (flags.workers !== undefined) set('workers', '--workers', numberOrText(flags.workers));
  if (flags.seed !== undefined) set('seed', '--seed', numberOrText(flags.seed));
  for (const field of ['learner', 'module', 'check', 'backend', 'autoreset'] as const) {
    const text = flags[field];
    if (text !== undefined) set(field, `--${field}`, text);
  }
  return { value, flagOf };
}
