// How a kind's configuration is read: by a zod schema with defaults, unknown keys refused, the failing field named. Called by the
// registry's users (plan validation, worker, env check) before anything is created.
import type { z } from 'zod';
import type { EnvKind } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';

/** Parses `config` with a kind's schema. Throws `bad-kind` naming kind, field and rule. */
export function parseKindConfig<Schema extends z.ZodType>(kind: string, schema: Schema, config: unknown): z.output<Schema> {
  const parsed = schema.safeParse(config ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? '' : `.${issue.path.join('.')}`;
  throw new EnvladderError('bad-kind', `env kind '${kind}': config${field}: ${issue?.message ?? 'not valid'}; see docs/kinds`, {
    detail: { kind, path: issue?.path },
  });
}

/** The config a kind will run with: its own parser, or only `{}` where it has none. Throws `bad-kind`. */
export function resolveKindConfig<Config>(kind: EnvKind<Config>, config: unknown): Config {
  if (kind.parseConfig !== undefined) return askKind(kind, 'parseConfig', () => kind.parseConfig?.(config ?? {}) as Config);
  if (config === undefined || (typeof config === 'object' && config !== null && Object.keys(config).length === 0)) {
    return {} as Config;
  }
  const given = typeof config === 'object' && config !== null ? Object.keys(config).join(', ') : typeof config;
  throw new EnvladderError('bad-kind', `env kind '${kind.name}': takes no config, found ${given}; leave the config out`, {
    detail: { kind: kind.name },
  });
}

/** Calls a declaration of a kind; what it throws becomes `bad-kind` naming the member, unless it has a code of its own. */
export function askKind<Result>(kind: Pick<EnvKind, 'name'>, member: string, call: () => Result): Result {
  try {
    return call();
  } catch (cause) {
    if (cause instanceof EnvladderError) throw cause;
    const what = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new EnvladderError('bad-kind', `env kind '${kind.name}': ${member} threw ${what}`, {
      cause,
      detail: { kind: kind.name, member },
    });
  }
}
