// A plan's text and where it came from: a YAML file by path, or a built-in one by name. Keeps line numbers, so that every later
// problem can be shown as FILE:LINE. Bounded: a plan file is at most 1 MB.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { EnvladderError } from '../contract/errors.js';
import { nearestName } from '../envs/nearest-name.js';
import { packageRoot } from './package-root.js';

const MAX_PLAN_BYTES = 1_000_000;

export interface PlanSource {
  /** As shown to people: the path as given, or ladders/NAME.yaml for a built-in one. */
  readonly label: string;
  /** Absolute path of the file; `module:` inside the plan is relative to its folder. */
  readonly file: string;
  readonly value: Record<string, unknown>;
  /** Line of the value at `path`; with `key`, line of that key inside it. Undefined where the file does not mention it. */
  lineOf(path: readonly PropertyKey[], key?: string): number | undefined;
}

/** Names of the plans that come with envladder. */
export function builtInPlans(): string[] {
  return readdirSync(join(packageRoot(), 'ladders'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
    .sort();
}

function findPlanFile(name: string, cwd: string): { file: string; label: string } {
  const looksLikePath = name.includes('/') || /\.ya?ml$/.test(name);
  if (!looksLikePath) {
    const builtIn = join(packageRoot(), 'ladders', `${name}.yaml`);
    if (existsSync(builtIn)) return { file: builtIn, label: `ladders/${name}.yaml` };
  }
  const file = resolve(cwd, name);
  if (existsSync(file) && statSync(file).isFile()) return { file, label: name };
  const known = builtInPlans();
  const near = looksLikePath ? undefined : nearestName(name, known);
  throw new EnvladderError(
    'bad-plan',
    looksLikePath
      ? `plan file ${name}: ${existsSync(file) ? 'is not a file' : 'no such file'}; give a YAML file, or one of the built-in plans: ${known.join(', ')}`
      : `no plan is called '${name}'${near === undefined ? ';' : `, did you mean '${near}'?`} built-in plans: ${known.join(', ')}; a plan of your own is given by its path: --plan ./my-plan.yaml`,
    { detail: { plan: name } },
  );
}

function readText(file: string, label: string): string {
  const bytes = statSync(file).size;
  if (bytes > MAX_PLAN_BYTES) {
    throw new EnvladderError('bad-plan', `plan file ${label}: ${bytes} bytes; a plan is at most ${MAX_PLAN_BYTES} bytes`);
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new EnvladderError(
      'bad-plan',
      `plan file ${label}: cannot be read (${(cause as NodeJS.ErrnoException).code}); check its permissions`,
      { cause },
    );
  }
}

/** Walks a YAML document along `path` and tells where it is written; falls back to the nearest parent that is. */
function lineFinder(document: Document, lines: LineCounter): PlanSource['lineOf'] {
  const lineAt = (offset: number | undefined): number | undefined => (offset === undefined ? undefined : lines.linePos(offset).line);
  return (path, key) => {
    const steps = key === undefined ? [...path] : [...path, key];
    while (steps.length > 0) {
      const last = steps[steps.length - 1];
      const parent = document.getIn(steps.slice(0, -1), true);
      if (isMap(parent)) {
        const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(last));
        if (pair !== undefined && isScalar(pair.key)) return lineAt(pair.key.range?.[0]);
      }
      const node = document.getIn(steps, true) as { range?: readonly number[] } | undefined;
      if (node?.range !== undefined) return lineAt(node.range[0]);
      steps.pop();
    }
    return undefined;
  };
}

/**
 * Reads a plan's YAML without judging it: `name` is a built-in plan's name or a path (relative to `cwd`).
 * Throws `bad-plan` when it is missing, is no YAML (each problem as FILE:LINE) or is not a mapping.
 */
export function readPlanSource(name: string, cwd = process.cwd()): PlanSource {
  const { file, label } = findPlanFile(name, cwd);
  const lines = new LineCounter();
  const document = parseDocument(readText(file, label), { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => `${label}:${lines.linePos(error.pos[0]).line}: not valid YAML: ${error.message}`);
    throw new EnvladderError('bad-plan', problems.join('\n'), { detail: { file: label } });
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (cause) {
    throw new EnvladderError('bad-plan', `${label}:1: not valid YAML: ${(cause as Error).message}`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null || value === undefined ? 'nothing' : Array.isArray(value) ? 'a list' : `'${String(value)}'`;
    throw new EnvladderError(
      'bad-plan',
      `${label}:1: a plan is a mapping of fields (tiers, seconds, mix...), found ${found}; see docs/plans.md`,
    );
  }
  return { label, file, value: value as Record<string, unknown>, lineOf: lineFinder(document, lines) };
}
