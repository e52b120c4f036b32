// Objectives as a plan writes them: a text, or {slo, abort, after}. Checked here with the plan's mix at hand, resolved into rules. Pure.
import { z } from 'zod';
import { MAX_SLOS } from './limits.js';
import { parseAfter, parseSlo, type Slo, type SloRule, sloSide } from './slo.js';
import { isMetric, knownMetrics } from './slo-metrics.js';

/** Measured time after which an objective that may abort is first judged: PPO trains in bursts, a second of them says nothing. */
const ABORT_AFTER_SECONDS = 10;

export const sloSchema = z.strictObject({
  slo: z.string(),
  /** End the tier, and the climb, when it is missed after `after`. */
  abort: z.boolean().default(false),
  after: z.union([z.number().min(0, 'after must be 0 s or more'), z.string()]).default(ABORT_AFTER_SECONDS),
});

export const slosSchema = z.array(z.union([z.string(), sloSchema])).max(MAX_SLOS, `at most ${MAX_SLOS} objectives`);

type SloInput = z.output<typeof slosSchema>[number];

const textOf = (input: SloInput): string => (typeof input === 'string' ? input : input.slo);

/** What a custom issue carries so that the plan reader can say "did you mean". */
export interface UnknownName {
  readonly unknown: string;
  readonly known: readonly string[];
}

/** Adds an issue for every objective that cannot be read, names no metric, or is given twice. */
export function checkSlos(
  slos: readonly SloInput[],
  path: readonly (string | number)[],
  kinds: readonly string[],
  context: z.RefinementCtx,
): void {
  const sides = new Map<string, SloRule>();
  slos.forEach((input, index) => {
    const at = typeof input === 'string' ? [...path, index] : [...path, index, 'slo'];
    if (typeof input !== 'string') {
      const after = parseAfter(input.after);
      if (!after.ok) context.addIssue({ code: 'custom', path: [...path, index, 'after'], message: after.problem });
    }
    const parsed = parseSlo(textOf(input));
    if (!parsed.ok) {
      context.addIssue({ code: 'custom', path: at, message: parsed.problem });
      return;
    }
    const { metric } = parsed.value;
    if (!isMetric(metric, kinds)) {
      const params: UnknownName = { unknown: metric, known: knownMetrics(kinds) };
      context.addIssue({ code: 'custom', path: at, message: `no metric is called '${metric}'`, params: { ...params } });
      return;
    }
    const twin = sides.get(sloSide(parsed.value));
    if (twin !== undefined)
      context.addIssue({
        code: 'custom',
        path: at,
        message: `'${parsed.value.slo}' and '${twin.slo}' bound the same side of ${metric}; keep one`,
      });
    sides.set(sloSide(parsed.value), parsed.value);
  });
}

/** Objectives that `checkSlos` found nothing wrong with, laid over `inherited`: the own one of a side takes the inherited one's place. */
export function resolveSlos(slos: readonly SloInput[], inherited: readonly Slo[]): Slo[] {
  const bySide = new Map(inherited.map((slo) => [sloSide(slo), slo]));
  for (const input of slos) {
    const rule = parseSlo(textOf(input));
    const after = parseAfter(typeof input === 'string' ? ABORT_AFTER_SECONDS : input.after);
    if (!rule.ok || !after.ok) throw new Error(`objective '${textOf(input)}' was not checked before it was resolved`);
    bySide.set(sloSide(rule.value), { ...rule.value, abort: typeof input !== 'string' && input.abort, afterSeconds: after.value });
  }
  return [...bySide.values()];
}
