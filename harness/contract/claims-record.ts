// claims.json: what `envladder claims` measured, and the rule that was fixed before it did. Written by harness/claims, judged and rendered by
// reports/claims. Raw samples only: no median, no ratio and no verdict stands in it. Bounds keep a damaged file from taking a reader's memory.
import { z } from 'zod';
import { machineSchema } from './run-record.js';

export const CLAIMS_RECORD_NAME = 'claims.json';
export const CLAIMS_RECORD_VERSION = '1.1.0';

const text = z.string().max(4000);
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/, 'lower case, digits, dots and dashes');

/** What the account says, in a figure where it gives one. */
export const saidSchema = z.object({
  text,
  value: z.number().nullable(),
  unit: z.string().max(40),
});

export const sideSchema = z.object({
  name: id,
  /** One sentence: what this side does. */
  what: text,
  /** `account`: as told; `envladder`: what this project does; `reference`: a limit or a third way. */
  role: z.enum(['account', 'envladder', 'reference']),
});

export const metricSchema = z.object({
  id,
  name: z.string().max(120),
  unit: z.string().max(40),
  better: z.enum(['lower', 'higher']),
  /** `time` and `rate` may compare by ratio; `count` and `share` may be 0 on both sides. */
  kind: z.enum(['time', 'rate', 'count', 'share']),
});

/**
 * One inequality of the pre-registered rule, about one metric. `ratio`: `side` over `to` is at least (at most) `bound`; `value`: the value of
 * `side` itself is. The claim holds when all its rules do.
 */
export const ruleSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ratio'), metric: id, side: id, to: id, relation: z.enum(['at-least', 'at-most']), bound: z.number() }),
  z.object({ type: z.literal('value'), metric: id, side: id, relation: z.enum(['at-least', 'at-most']), bound: z.number() }),
]);

/** Fixed in the code and printed before the run. */
export const registeredSchema = z.object({
  sides: z.array(sideSchema).min(1).max(8),
  /** The first is the headline of the claim's row. */
  metrics: z.array(metricSchema).min(1).max(40),
  /** The rule in words. */
  rule: text,
  rules: z.array(ruleSchema).min(1).max(12),
  /** Value n of every side comes from the same seed or the same input: ratios are taken within repeats. */
  paired: z.boolean().optional(),
  /** `figure`: the account's number is tested; `direction`: its number is of other hardware or of no stated conditions, so only its direction. */
  tests: z.enum(['figure', 'direction']),
  /** How both sides are measured, and that they do the same work. */
  method: text,
});

/** Finite by construction: JSON knows no other numbers. */
const sample = z.number();

export const claimEntrySchema = z.object({
  id,
  said: saidSchema,
  question: text,
  registered: registeredSchema,
  /** `cut`: interrupted or out of time, with the repeats that were complete. */
  state: z.enum(['measured', 'cut', 'not-testable', 'failed']),
  /** Why it is not testable here, was cut, or failed; empty when measured. */
  reason: text,
  /** metric -> side -> one value per repeat, in the order they were taken. A side that cannot do a thing has no entry. */
  samples: z.record(id, z.record(id, z.array(sample).max(10_000))),
  /** Name -> value, as strings: sizes, counts, durations that both sides shared. */
  conditions: z.record(z.string().max(80), text),
  /** Cores that other work used, one value per repeat and side, in the order they were taken. */
  foreign_cores: z.array(z.number().min(0)).max(100_000),
  notes: z.array(text).max(40),
  repeats: z.number().int().min(0),
  seconds: z.number().min(0),
});

export const claimsRecordSchema = z.object({
  schema_version: z.string(),
  tool_version: z.string().max(40),
  seed: z.number().int().min(0),
  /** `quick` and `tiny` (for tests) show that a claim runs; their figures are not to be believed. */
  size: z.enum(['full', 'quick', 'tiny']),
  /** Of a side; a claim may ask for fewer, its entry says how many it got. */
  repeats: z.number().int().min(1),
  machine: machineSchema,
  started_at: z.string().max(40),
  ended_at: z.string().max(40),
  interrupted: z.boolean(),
  claims: z.array(claimEntrySchema).max(200),
});

export type ClaimSize = ClaimsRecord['size'];
export type Said = z.infer<typeof saidSchema>;
export type ClaimSide = z.infer<typeof sideSchema>;
export type ClaimMetric = z.infer<typeof metricSchema>;
export type ClaimRule = z.infer<typeof ruleSchema>;
export type Registered = z.infer<typeof registeredSchema>;
export type ClaimEntry = z.infer<typeof claimEntrySchema>;
export type ClaimsRecord = z.infer<typeof claimsRecordSchema>;
