// From a plan's name or file, with the flags laid over it, to a resolved plan whose env kinds are known and whose spaces are checked.
// Every problem is listed at once, each as FILE:LINE: field: message (or --flag: field: message). Nothing is started here.
import { dirname, resolve } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import { type Plan, planSchema, resolvePlan } from '../contract/plan.js';
import { createRegistry, type Registry, type ResolvedKind, resolveKind } from '../envs/registry.js';
import { applyFlags, type FlaggedPlan, type PlanFlags } from './plan-flags.js';
import { explainIssues, fieldName, type PlanProblem } from './plan-issues.js';
import { redisProblems } from './plan-redis.js';
import { type PlanSource, readPlanSource } from './plan-source.js';

export interface ReadPlan {
  readonly plan: Plan;
  /** One per mix entry, in the plan's order. */
  readonly kinds: readonly ResolvedKind[];
  readonly registry: Registry;
  /** Absolute path of the user's module, or null. */
  readonly module: string | null;
  /** Where the plan came from, for people. */
  readonly label: string;
}

export interface PlanRequest {
  /** Built-in name or path. */
  readonly plan: string;
  readonly flags: PlanFlags;
  readonly cores: number;
  readonly cwd: string;
}

/** zod holds the schema's cross-field rules back while a field has a wrong type: judge those once more without the broken fields. */
function allProblems(value: Record<string, unknown>): PlanProblem[] {
  const first = planSchema.safeParse(value);
  if (first.success) return [];
  const problems = explainIssues(first.error.issues, value);
  const rest: Record<string, unknown> = { tiers: [1], ...value };
  for (const problem of problems) delete rest[problem.path.length === 0 ? (problem.key ?? '') : String(problem.path[0])];
  const second = planSchema.safeParse({ tiers: [1], ...rest });
  const hidden = second.success ? [] : explainIssues(second.error.issues, rest);
  return [...problems, ...hidden.filter((problem) => problem.path[0] !== undefined)];
}

function locate(problem: PlanProblem, source: PlanSource, flagged: FlaggedPlan): { line: number; text: string } {
  const field = fieldName(problem.path, problem.key);
  const flag = flagged.flagOf.get(String(problem.path[0] ?? problem.key));
  if (flag !== undefined)
    return { line: 0, text: flag === `--${field}` ? `${flag}: ${problem.message}` : `${flag}: ${field}: ${problem.message}` };
  const line = source.lineOf(problem.path, problem.key) ?? 1;
  return { line, text: `${source.label}:${line}: ${field}: ${problem.message}` };
}

function refuse(problems: readonly PlanProblem[], source: PlanSource, flagged: FlaggedPlan): never {
  const located = problems.map((problem) => locate(problem, source, flagged)).sort((a, b) => a.line - b.line);
  throw new EnvladderError('bad-plan', located.map((problem) => problem.text).join('\n'), {
    detail: { problems: located.map((problem) => problem.text) },
  });
}

/** Finds every mix entry's kind; unknown kinds and bad configs become problems of their line. */
function resolveKinds(plan: Plan, registry: Registry, source: PlanSource, flagged: FlaggedPlan): ResolvedKind[] {
  const problems: PlanProblem[] = [];
  const kinds = plan.mix.flatMap((entry) => {
    try {
      return [resolveKind(registry, entry.kind, entry.config)];
    } catch (error) {
      if (!(error instanceof EnvladderError)) throw kindThrew(entry.kind, error);
      problems.push({ path: ['mix', entry.name], message: error.message });
      return [];
    }
  });
  if (problems.length > 0) refuse(problems, source, flagged);
  return kinds;
}

function kindThrew(kind: string, cause: unknown): EnvladderError {
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new EnvladderError(
    'bad-kind',
    `env kind '${kind}': threw while its config and spaces were read: ${said}; run: npm run -s envladder -- env check ${kind}`,
    { cause },
  );
}

/**
 * Reads, checks and resolves a plan. Throws `bad-plan` listing every problem, `bad-usage` for unreadable flags, `bad-module` for a
 * module that cannot be loaded, `bad-kind` for one that throws.
 */
export async function readPlan(request: PlanRequest): Promise<ReadPlan> {
  const source = readPlanSource(request.plan, request.cwd);
  const flagged = applyFlags(source.value, request.flags);
  const problems = allProblems(flagged.value);
  if (problems.length > 0) refuse(problems, source, flagged);
  const plan = resolvePlan(planSchema.parse(flagged.value), request.cores);
  const unreachable = redisProblems(plan, process.env);
  if (unreachable.length > 0) refuse(unreachable, source, flagged);
  const base = flagged.flagOf.has('module') ? request.cwd : dirname(source.file);
  const registry = await createRegistry(plan.module === null ? [] : [plan.module], base);
  const kinds = resolveKinds(plan, registry, source, flagged);
  const module = plan.module === null ? null : resolve(base, plan.module);
  return { plan, kinds, registry, module, label: source.label };
}
