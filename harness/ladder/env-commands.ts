// What `envladder env list` and `envladder env check` do: the registry, seen from the command line.
import { EnvladderError } from '../contract/errors.js';
import { type CheckReport, checkKind } from '../envs/check.js';
import { formatCheckReport, formatKindList, type KindListing, listKinds } from '../envs/format-check.js';
import { createRegistry, resolveKind } from '../envs/registry.js';
import { refuseEmpty } from './refuse-empty.js';

export interface Answer<Data> {
  readonly data: Data;
  readonly text: string;
}

/** All kinds a plan may name, with those of `modules`. Throws `bad-module`. */
export async function listEnvKinds(modules: readonly string[], cwd: string): Promise<Answer<readonly KindListing[]>> {
  const kinds = listKinds(await createRegistry(modules, cwd));
  return { data: kinds, text: formatKindList(kinds) };
}

export interface CheckRequest {
  readonly kind: string;
  readonly module: string | undefined;
  /** JSON text of the kind's config. */
  readonly config: string | undefined;
  readonly seed: number;
  readonly cwd: string;
}

/** Checks one kind. Throws `bad-usage`, `bad-module`, `bad-kind`; what the kind does wrong is in the report. */
export async function checkEnvKind(request: CheckRequest): Promise<Answer<CheckReport>> {
  refuseEmpty('--module', request.module, 'module', "give the module's path, or leave --module away for the built-in kinds");
  let config: unknown = {};
  try {
    if (request.config !== undefined) config = JSON.parse(request.config);
  } catch (cause) {
    throw new EnvladderError('bad-usage', `--config: not JSON (${(cause as Error).message}); write --config '{"size": 8}'`, { cause });
  }
  const registry = await createRegistry(request.module === undefined ? [] : [request.module], request.cwd);
  const report = await checkKind(resolveKind(registry, request.kind, config), { baseSeed: request.seed });
  return { data: report, text: formatCheckReport(report) };
}
