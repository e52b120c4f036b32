// Turns what zod found wrong with a plan into sentences a person can act on: where (FILE:LINE or the flag), which field, what is
// allowed, what was found, and the nearest known name for a mistyped one. Pure.
import type { z } from 'zod';
import { expectSchema, mixEntrySchema, planSchema, quietSchema, tierSchema } from '../contract/plan.js';
import { sloSchema, type UnknownName } from '../contract/plan-slos.js';
import { ppoSchema } from '../contract/ppo-config.js';
import { nearestName } from '../envs/nearest-name.js';

type Issue = z.core.$ZodIssue;

export interface PlanProblem {
  readonly path: readonly PropertyKey[];
  /** Set for unknown keys: the key itself, inside `path`. */
  readonly key?: string;
  readonly message: string;
}

const EXPECTED: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of fields',
  record: 'a mapping of names to values',
};

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'nothing (null)';
  if (typeof value === 'string') {
    // An address may hold a password: who one is there is never shown.
    const text = value.replace(/:\/\/.*@/s, '://...@');
    return `the text '${text.length > 60 ? `${text.slice(0, 57)}...` : text}'`;
  }
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return String(value);
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const step of path) value = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[step] : undefined;
  return value;
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(planSchema.shape);
  if (path.includes('slos')) return Object.keys(sloSchema.shape);
  if (path[0] === 'quiet') return Object.keys(quietSchema.shape);
  if (path[0] === 'expect') return Object.keys(expectSchema.shape);
  if (path[0] === 'ppo') return Object.keys(ppoSchema.shape);
  if (path[0] === 'tiers') return Object.keys(tierSchema.shape);
  if (path[0] === 'mix') return Object.keys(mixEntrySchema.shape);
  return fieldsAt(path);
}

interface SchemaNode {
  readonly shape?: Readonly<Record<string, SchemaNode>>;
  unwrap?(): SchemaNode;
}

/** Fields of the mapping at a path; nothing where the schema has none there. */
function fieldsAt(path: readonly PropertyKey[]): string[] {
  const bare = (node: SchemaNode | undefined): SchemaNode | undefined => (node?.unwrap === undefined ? node : bare(node.unwrap()));
  const found = path.reduce<SchemaNode | undefined>((node, step) => bare(node?.shape?.[String(step)]), planSchema as SchemaNode);
  return Object.keys(found?.shape ?? {});
}

/** Messages written for people in the schema are kept; zod's own wording is replaced. */
const isOwnWording = (message: string): boolean => !/^(Too small|Too big|Invalid|Unrecognized)/.test(message);

/** For issues that name something unknown: the nearest known name, else all of them. */
function suggestion(params: Readonly<Record<string, unknown>> | undefined): string {
  const { unknown, known } = (params ?? {}) as Partial<UnknownName>;
  if (unknown === undefined || known === undefined) return '';
  const near = nearestName(unknown, known);
  return near === undefined ? `; known: ${known.join(', ')}` : `, did you mean '${near}'?`;
}

function sentence(issue: Issue, found: unknown): string {
  const own = isOwnWording(issue.message) ? `${issue.message}, ` : '';
  switch (issue.code) {
    case 'invalid_type':
      if (found === undefined) return `is missing; it must be ${EXPECTED[issue.expected] ?? issue.expected}`;
      return `${own === '' ? `must be ${EXPECTED[issue.expected] ?? issue.expected}, ` : own}found ${shown(found)}`;
    case 'too_small':
      return `${own === '' ? `must be ${issue.inclusive === false ? 'above' : 'at least'} ${issue.minimum}${issue.origin === 'array' || issue.origin === 'string' ? ' long' : ''}, ` : own}found ${shown(found)}`;
    case 'too_big':
      return `${own === '' ? `must be ${issue.inclusive === false ? 'below' : 'at most'} ${issue.maximum}${issue.origin === 'array' || issue.origin === 'string' ? ' long' : ''}, ` : own}found ${shown(found)}`;
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const near = typeof found === 'string' ? nearestName(found, allowed) : undefined;
      return `must be one of ${allowed.join(', ')}; found ${shown(found)}${near === undefined ? '' : `, did you mean '${near}'?`}`;
    }
    case 'custom':
      return `${issue.message}${suggestion(issue.params)}`;
    default:
      return `${issue.message}, found ${shown(found)}`;
  }
}

/** A union fails with one list per branch: the branch that got past the value's own type is the one that was meant. */
function flatten(issue: Issue, root: unknown): { issue: Issue; path: PropertyKey[] }[] {
  if (issue.code !== 'invalid_union') return [{ issue, path: [...issue.path] }];
  const found = valueAt(root, issue.path);
  const meant = issue.errors.find(
    (branch) => branch.length > 0 && !branch.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
  );
  const branch = meant ?? (typeof found === 'object' && found !== null ? issue.errors[1] : issue.errors[0]) ?? [];
  return branch.flatMap((inner) => flatten({ ...inner, path: [...issue.path, ...inner.path] } as Issue, root));
}

/** `secs` for `seconds`: the same first letter, and all letters in the same order. */
function abbreviates(short: string, name: string): boolean {
  if (short.length < 3 || short[0] !== name[0]) return false;
  let at = 0;
  for (const letter of name) if (letter === short[at]) at++;
  return at === short.length;
}

/** Every problem of a plan, one per broken field, in the order of the fields. */
export function explainIssues(issues: readonly Issue[], root: unknown): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const outer of issues) {
    for (const { issue, path } of flatten(outer, root)) {
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) {
          const known = knownKeys(path);
          const near = known.find((name) => abbreviates(key, name)) ?? nearestName(key, known);
          const hint = near === undefined ? `; known fields: ${known.join(', ')}` : `, did you mean '${near}'?`;
          problems.push({ path, key, message: `unknown field '${key}'${hint}` });
        }
      } else {
        problems.push({ path, message: sentence(issue, valueAt(root, path)) });
      }
    }
  }
  return problems.filter((problem, index) => problems.findIndex((other) => sameField(other, problem)) === index);
}

/** The first thing said about a field is the one to repair; a second one usually follows from it. */
function sameField(a: PlanProblem, b: PlanProblem): boolean {
  return a.key === b.key && a.path.length === b.path.length && a.path.every((step, index) => step === b.path[index]);
}

/** tiers[1].seconds */
export function fieldName(path: readonly PropertyKey[], key?: string): string {
  const steps = key === undefined ? path : [...path, key];
  return steps.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    '',
  );
}
