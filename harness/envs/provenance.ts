// Where an env kind came from, stored with every run: hash of its source files and their local imports, hash of its config, its version,
// and the git commit of the folder it lies in. Read once per kind at start; no absolute paths leave this file.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ResolvedKind } from './registry.js';

export interface KindProvenance {
  readonly kind: string;
  readonly version: string;
  /** 'built-in' or the module's path as given. */
  readonly origin: string;
  /** SHA-256 over the names and contents of `files`. */
  readonly contentHash: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly configHash: string;
  /** HEAD of the repository that holds the first source file; null outside git. */
  readonly gitCommit: string | null;
  /** Whether one of `files` differs from that commit; null outside git. */
  readonly gitDirty: boolean | null;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** JSON with sorted keys: equal values give equal text. Functions and undefined are left out; kinds count by name and version. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    const named = inner as { name?: unknown; version?: unknown; create?: unknown };
    if (typeof named.create === 'function') return { kind: named.name, version: named.version };
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  });
}

/** Runtime imports of files beside or below: `from './x.js'`. Type-only imports leave no trace at run time and do not count. */
function localImports(file: string, source: string): string[] {
  const found: string[] = [];
  for (const match of source.matchAll(/^\s*(?:import|export)\s+(?!type\b)[^'"]*?from\s*['"](\.\/[^'"]+)['"]/gm)) {
    const path = resolve(dirname(file), match[1] as string);
    const candidates = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.mjs$/, '.mts')];
    const real = candidates.find((candidate) => existsSync(candidate));
    if (real !== undefined) found.push(real);
  }
  return found;
}

/** All files that make the kind, sorted: its `sources` and, from there, every local import. Missing ones are left out. */
function gatherFiles(sources: readonly string[]): Map<string, string> {
  const contents = new Map<string, string>();
  const open = sources.map((source) => (source.startsWith('file:') ? fileURLToPath(source) : resolve(source)));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (contents.has(file) || !existsSync(file)) continue;
    const source = readFileSync(file, 'utf8');
    contents.set(file, source);
    open.push(...localImports(file, source));
  }
  return new Map([...contents].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function git(folder: string, ...args: string[]): string | null {
  try {
    return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 5_000 }).trim();
  } catch {
    return null;
  }
}

/** Provenance of a resolved kind. Never throws: what cannot be found is null. */
export function describeProvenance(resolved: ResolvedKind): KindProvenance {
  const { kind, config, origin } = resolved;
  // A query tells modules apart that were loaded more than once; it is no part of the file's name.
  const contents = gatherFiles(kind.sources.map((source) => source.replace(/\?.*$/, '')));
  const paths = [...contents.keys()];
  const folder = paths[0] === undefined ? null : dirname(paths[0]);
  const files = paths.map((path) => ({
    path: relative(folder ?? '', path),
    sha256: sha256(contents.get(path) as string),
  }));
  const gitCommit = folder === null ? null : git(folder, 'rev-parse', 'HEAD');
  const status = folder === null || gitCommit === null ? null : git(folder, 'status', '--porcelain', '--', ...paths);
  return {
    kind: kind.name,
    version: kind.version,
    origin,
    contentHash: sha256(files.map((file) => `${file.path}\0${file.sha256}\n`).join('')),
    files,
    configHash: sha256(canonicalJson(config)),
    gitCommit,
    gitDirty: status === null ? null : status !== '',
  };
}
