// Every env kind that a run may name: the built-in ones and those of modules given with --module. Filled once at start in each process
// (supervisor, worker, CLI), then only read.
import type { EnvKind } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';
import { parseSpaces, type Spaces } from '../contract/spaces.js';
import { BUILT_IN_KINDS } from './built-in-kinds.js';
import { askKind, resolveKindConfig } from './kind-config.js';
import { loadKindModule } from './kind-module.js';
import { createFaultKind } from './kinds/fault.js';
import { nearestName } from './nearest-name.js';

export interface RegisteredKind {
  // biome-ignore lint/suspicious/noExplicitAny: kinds of every config type live in one table
  readonly kind: EnvKind<any>;
  /** 'built-in' or the path of the module as it was given. */
  readonly origin: string;
}

export type Registry = ReadonlyMap<string, RegisteredKind>;

/** A kind with its config filled in and its spaces validated: what a range is created from. */
export interface ResolvedKind {
  // biome-ignore lint/suspicious/noExplicitAny: see RegisteredKind
  readonly kind: EnvKind<any>;
  readonly origin: string;
  readonly config: unknown;
  readonly spaces: Spaces;
  /** Steps; undefined = endless. */
  readonly timeLimit: number | undefined;
}

/** Built-in kinds plus those of `modules` (paths relative to `cwd`). Throws `bad-module`; a name twice is a `bad-module` too. */
export async function createRegistry(modules: readonly string[] = [], cwd = process.cwd()): Promise<Registry> {
  const registry = new Map<string, RegisteredKind>();
  for (const kind of BUILT_IN_KINDS) registry.set(kind.name, { kind, origin: 'built-in' });
  // `fault` looks its wrapped kind up at parse time, so kinds of modules can be wrapped as well.
  const fault = createFaultKind((name) => findKind(registry, name).kind);
  registry.set(fault.name, { kind: fault, origin: 'built-in' });
  for (const path of modules) {
    for (const kind of await loadKindModule(path, cwd)) {
      const taken = registry.get(kind.name);
      if (taken !== undefined && taken.kind !== kind) {
        throw new EnvladderError(
          'bad-module',
          `module ${path}: env kind '${kind.name}' is already there (${taken.origin}); give it another name`,
          { detail: { module: path, kind: kind.name } },
        );
      }
      registry.set(kind.name, { kind, origin: path });
    }
  }
  return registry;
}

/** Looks a kind up by name. Throws `bad-kind` naming the known ones and the nearest. */
export function findKind(registry: Registry, name: string): RegisteredKind {
  const found = registry.get(name);
  if (found !== undefined) return found;
  const known = [...registry.keys()];
  const near = nearestName(name, known);
  throw new EnvladderError(
    'bad-kind',
    `unknown env kind '${name}'${near === undefined ? '' : `, did you mean '${near}'?`} Known: ${known.join(', ')}; an own kind comes with --module ./my-env.ts`,
    { detail: { kind: name, known } },
  );
}

/** Finds a kind, fills its config, validates its spaces and time limit. Throws `bad-kind` or `bad-space`. */
export function resolveKind(registry: Registry, name: string, config?: unknown): ResolvedKind {
  const { kind, origin } = findKind(registry, name);
  const filled = resolveKindConfig(kind, config);
  const timeLimit = askKind(kind, 'timeLimit', () => kind.timeLimit?.(filled));
  if (timeLimit !== undefined && !(Number.isInteger(timeLimit) && timeLimit > 0)) {
    throw new EnvladderError(
      'bad-kind',
      `env kind '${name}': timeLimit returned ${String(timeLimit)}, must be a whole number of steps above 0 or undefined`,
      { detail: { kind: name } },
    );
  }
  return {
    kind,
    origin,
    config: filled,
    spaces: parseSpaces(
      name,
      askKind(kind, 'spaces', () => kind.spaces(filled)),
    ),
    timeLimit,
  };
}
