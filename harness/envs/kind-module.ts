// Loads env kinds from a user's module: JavaScript natively, TypeScript through tsx when it is installed. A kind is any export that
// looks like an EnvKind; what is missing is named, and an error thrown while importing travels as the cause.
import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EnvKind } from '../contract/env.js';
import { EnvladderError } from '../contract/errors.js';

const TYPESCRIPT = new Set(['.ts', '.mts', '.cts']);
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs']);

function badModule(path: string, why: string, cause?: unknown): EnvladderError {
  return new EnvladderError('bad-module', `module ${path}: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    detail: { module: path },
  });
}

const text = (cause: unknown): string => (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause));

async function importModule(path: string, url: string, extension: string): Promise<Record<string, unknown>> {
  if (JAVASCRIPT.has(extension)) return (await import(url)) as Record<string, unknown>;
  let api: typeof import('tsx/esm/api');
  try {
    api = await import('tsx/esm/api');
  } catch (cause) {
    throw badModule(path, 'TypeScript needs the package tsx; npm install tsx, or compile the module to .js', cause);
  }
  return (await api.tsImport(url, import.meta.url)) as Record<string, unknown>;
}

/** Which member keeps `value` from being an EnvKind, or undefined when it is one. */
function missingMember(value: object): string | undefined {
  const kind = value as Partial<Record<keyof EnvKind, unknown>>;
  if (typeof kind.name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(kind.name)) return 'name (lower-case words and dashes)';
  if (typeof kind.version !== 'string') return 'version (a string)';
  if (typeof kind.summary !== 'string') return 'summary (a string)';
  if (typeof kind.spaces !== 'function') return 'spaces (a function)';
  if (typeof kind.create !== 'function') return 'create (a function)';
  if (!Array.isArray(kind.sources)) return 'sources (usually [import.meta.url])';
  return undefined;
}

/** The kinds a module exports. Throws `bad-module` when it is missing, throws at import, or exports no kind. */
export async function loadKindModule(path: string, cwd = process.cwd()): Promise<readonly EnvKind[]> {
  const file = resolve(cwd, path);
  const extension = extname(file);
  if (!TYPESCRIPT.has(extension) && !JAVASCRIPT.has(extension)) {
    throw badModule(path, `'${extension}' is not a module; pass a .ts, .js or .mjs file`);
  }
  if (!existsSync(file)) throw badModule(path, `no such file (${file})`);
  let exported: Record<string, unknown>;
  try {
    exported = await importModule(path, pathToFileURL(file).href, extension);
  } catch (cause) {
    if (cause instanceof EnvladderError && cause.code === 'bad-module') throw cause;
    throw badModule(path, `threw while it was imported: ${text(cause)}`, cause);
  }
  const kinds = new Set<EnvKind>();
  let almost: string | undefined;
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const missing = missingMember(value);
    if (missing === undefined) kinds.add(value as EnvKind);
    else if (name === 'kind' || 'create' in value) almost = `export '${name}' lacks ${missing}`;
  }
  if (almost !== undefined) throw badModule(path, `${almost}; see docs/bring-your-own-env.md`);
  if (kinds.size === 0) {
    throw badModule(
      path,
      `exports no env kind (found: ${Object.keys(exported).join(', ') || 'nothing'}); export const kind: EnvKind = {...}, see docs/bring-your-own-env.md`,
    );
  }
  return [...kinds];
}
