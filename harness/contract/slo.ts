// The grammar of an objective: METRIC OP LIMIT, as in `step_latency_us.p99 < 30000`. Pure; what is wrong comes back as a sentence with
// what to write instead, and the plan reader adds file and line.
import type { SloResult } from './run-record.js';

export type SloOp = SloResult['op'];
export const SLO_OPS: readonly SloOp[] = ['<', '<=', '>', '>='];

/** What an objective says, without when to give up. */
export interface SloRule {
  /** As the plan says it, blanks tidied. */
  readonly slo: string;
  readonly metric: string;
  readonly op: SloOp;
  readonly limit: number;
}

export interface Slo extends SloRule {
  /** Missed after `afterSeconds` of measured time: the tier ends, and the climb with it. */
  readonly abort: boolean;
  readonly afterSeconds: number;
}

export type Parsed<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

const EXAMPLE = "write METRIC OP LIMIT, as in 'step_latency_us.p99 < 30000'";
/** Plain decimals, with _ between digits where a person wants it. */
const NUMBER = /^[+-]?(\d+(_\d+)*)(\.\d+)?(e[+-]?\d+)?$/i;
/** A number that a unit was written behind. */
const WITH_UNIT = /^[+-]?[\d._]+\s*[a-z%]/i;

function shown(text: string): string {
  return `'${text.length > 60 ? `${text.slice(0, 57)}...` : text}'`;
}

function limitProblem(text: string, metric: string): string {
  if (text === '') return `the limit is missing; ${EXAMPLE}`;
  if (WITH_UNIT.test(text) && !NUMBER.test(text))
    return `the limit ${shown(text)} must be a bare number: the metric's name says its unit (${metric})`;
  return `the limit must be a number, found ${shown(text)}; ${EXAMPLE}`;
}

/** Reads one objective. Whether the metric exists is asked of `metricProblem` (slo-metrics.ts), which knows the plan's mix. */
export function parseSlo(text: string): Parsed<SloRule> {
  const refuse = (problem: string): Parsed<SloRule> => ({ ok: false, problem });
  const parts = /^([^<>=!]*)([<>=!]+)(.*)$/s.exec(text);
  if (parts === null) return refuse(`found ${shown(text)}; ${EXAMPLE}`);
  const [metric = '', op = '', right = ''] = parts.slice(1).map((part) => part.trim());
  if (metric === '') return refuse(`the metric is missing in ${shown(text)}; ${EXAMPLE}`);
  if (!(SLO_OPS as readonly string[]).includes(op)) return refuse(`'${op}' does not compare; use one of ${SLO_OPS.join(' ')}`);
  const limit = Number(right.replaceAll('_', ''));
  if (!NUMBER.test(right) || !Number.isFinite(limit)) return refuse(limitProblem(right, metric));
  return { ok: true, value: { slo: `${metric} ${op} ${right}`, metric, op: op as SloOp, limit } };
}

const SECONDS_IN: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, min: 60, h: 3600 };

/** `30s`, `500ms`, `2m`, `1h`, or a bare number of seconds. */
export function parseAfter(value: string | number): Parsed<number> {
  const parts = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)?$/.exec(String(value).trim());
  if (parts === null) return { ok: false, problem: `must be seconds or a time such as 30s, 2m or 1h, found ${shown(String(value))}` };
  return { ok: true, value: Number(parts[1]) * (SECONDS_IN[parts[2] ?? 's'] ?? 1) };
}

/** Whether `value` keeps to the objective. */
export function keeps(rule: Pick<SloRule, 'op' | 'limit'>, value: number): boolean {
  switch (rule.op) {
    case '<':
      return value < rule.limit;
    case '<=':
      return value <= rule.limit;
    case '>':
      return value > rule.limit;
    case '>=':
      return value >= rule.limit;
  }
}

/** The side from which an objective bounds its metric: two objectives on one side of one metric are one too many. */
export function sloSide(rule: Pick<SloRule, 'metric' | 'op'>): string {
  return `${rule.metric} ${rule.op.startsWith('<') ? 'at most' : 'at least'}`;
}
