// Makes the peers' Python environments in the cache folder with pip: each under a key of all that went into it, so that a second run finds
// it and a changed recipe makes a new one. What cannot be made (no Python, no network, no room) comes back as a reason, never as an error.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { driverPath } from './driver-path.js';
import { VENV_RECIPES, type VenvName, type VenvRecipe } from './peer-venvs.js';

/** torch is gigabytes of wheels; a machine without a network is known sooner (pip's own timeout). */
const STEP_LIMIT_MS = 20 * 60_000;
const PIP = ['-m', 'pip', '--disable-pip-version-check', '--quiet', '--retries', '1', '--timeout', '60'];

export type FoundVenv = { readonly python: string } | { readonly reason: string };

class Refused extends Error {}

function lastLine(run: SpawnSyncReturns<string>): string {
  if (run.error !== undefined) return run.error.message;
  const lines = `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('note:'));
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? `exit code ${run.status}`;
}

function run(what: string, command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: STEP_LIMIT_MS, maxBuffer: 2 ** 26, env: { ...process.env, ...env } });
  if (done.status !== 0) throw new Refused(`${what} failed: ${lastLine(done).trim()}`);
  return done.stdout;
}

/** The folder that all caches of envladder lie in. */
function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'envladder');
}

function pythonVersion(): string {
  const asked = spawnSync('python3', ['-c', 'import sys; print(sys.version.split()[0])'], { encoding: 'utf8' });
  if (asked.status !== 0) throw new Refused(`no python3 on the PATH (${lastLine(asked)}); Debian: apt-get install python3-venv`);
  return asked.stdout.trim();
}

/** Where `name` lies or will lie. */
function venvFolder(name: VenvName, version: string): string {
  const recipe = VENV_RECIPES[name];
  const seen = recipe.sees === null ? '' : venvFolder(recipe.sees, version);
  const built = recipe.source === null ? '' : readFileSync(driverPath('build_puffer.py'), 'utf8');
  const key = createHash('sha256')
    .update(JSON.stringify([version, recipe.packages, recipe.source, recipe.proof, seen, built]))
    .digest('hex')
    .slice(0, 12);
  return join(cacheRoot(), `peers-${name}-${key}`);
}

function sitePackages(venv: string): string {
  const lib = join(venv, 'lib');
  const python = readdirSync(lib).find((entry) => entry.startsWith('python'));
  if (python === undefined) throw new Refused(`${lib} holds no Python`);
  return join(lib, python, 'site-packages');
}

function checkRoom(recipe: VenvRecipe): void {
  const { bavail, bsize } = statfsSync(cacheRoot());
  if (bavail * bsize >= recipe.diskBytes) return;
  const gb = (bytes: number): string => (bytes / 1e9).toFixed(1);
  throw new Refused(
    `${gb(recipe.diskBytes)} GB of disk are needed and ${gb(bavail * bsize)} are free: make room, or set XDG_CACHE_HOME to another disk`,
  );
}

/** The unpacked package among what pip left in `folder`. */
function unpackedIn(folder: string): string | undefined {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find((entry) => entry.name === 'PKG-INFO');
  return found?.parentPath;
}

/**
 * Fetches the source package with pip and builds it inside the venv. Its setup.py fails under pip (it wants to download libraries and its own
 * switch against that is broken), so pip is asked to leave what it unpacked before the failure.
 */
function buildSource(venv: string, source: string): void {
  const python = join(venv, 'bin', 'python');
  const folder = join(venv, 'src');
  const fetched = join(venv, 'fetched');
  mkdirSync(fetched);
  const fetch = [...PIP, 'download', '--no-clean', '--no-deps', '--no-binary', ':all:', '--no-build-isolation', '--dest', fetched, source];
  const env = { ...process.env, TMPDIR: fetched, NO_OCEAN: '1', NO_TRAIN: '1' };
  const done = spawnSync(python, fetch, { encoding: 'utf8', timeout: STEP_LIMIT_MS, env });
  const unpacked = unpackedIn(fetched);
  if (unpacked === undefined) throw new Refused(`fetching the source of ${source} failed: ${lastLine(done).trim()}`);
  renameSync(unpacked, folder);
  rmSync(fetched, { recursive: true });
  run(`building ${source}`, python, [driverPath('build_puffer.py'), folder, python]);
  // Relative to site-packages, so that it still holds when the finished venv takes its final name.
  writeFileSync(join(sitePackages(venv), 'source.pth'), '../../../src\n');
}

function fill(venv: string, name: VenvName, seen: string | null): void {
  const recipe = VENV_RECIPES[name];
  const python = join(venv, 'bin', 'python');
  run('python3 -m venv (Debian: apt-get install python3-venv)', 'python3', ['-m', 'venv', venv]);
  run(`pip install ${recipe.packages.join(' ')}`, python, [...PIP, 'install', '--no-compile', ...recipe.packages]);
  if (seen !== null) writeFileSync(join(sitePackages(venv), 'seen.pth'), `${sitePackages(seen)}\n`);
  if (recipe.source !== null) buildSource(venv, recipe.source);
  // An importing program that may not write its compiled modules would compile them again at each start.
  run(`proving ${name}`, python, ['-c', `import os, sys; os.chdir(sys.prefix); ${recipe.proof}`], { PYTHONDONTWRITEBYTECODE: '' });
}

/** The Python of venv `name` if it was made before; nothing is made. */
export function lookForVenv(name: VenvName): FoundVenv {
  try {
    const python = join(venvFolder(name, pythonVersion()), 'bin', 'python');
    return existsSync(python)
      ? { python }
      : { reason: `the Python environment ${name} is not made yet (npm run bench -- --peers makes it)` };
  } catch (error) {
    if (error instanceof Refused) return { reason: error.message };
    throw error;
  }
}

/** Path of the Python of venv `name`, made now if it is absent, or why there is none. `say` gets a line before each long step. */
export function findVenv(name: VenvName, say: (line: string) => void): FoundVenv {
  let temp = '';
  try {
    const recipe = VENV_RECIPES[name];
    const version = pythonVersion();
    const venv = venvFolder(name, version);
    const python = join(venv, 'bin', 'python');
    if (existsSync(python)) return { python };
    let seen: string | null = null;
    if (recipe.sees !== null) {
      const other = findVenv(recipe.sees, say);
      if ('reason' in other) return { reason: `needs the packages of ${recipe.sees}: ${other.reason}` };
      seen = dirname(dirname(other.python));
    }
    mkdirSync(cacheRoot(), { recursive: true });
    checkRoom(recipe);
    say(`making the Python environment ${name} (${recipe.about}) ...`);
    // Made beside it and renamed: one that was interrupted is never taken for a whole one.
    temp = `${venv}.${process.pid}.tmp`;
    fill(temp, name, seen);
    renameSync(temp, venv);
    return { python };
  } catch (error) {
    if (error instanceof Refused) return { reason: error.message };
    return { reason: `${name}: ${(error as Error).message}` };
  } finally {
    if (temp !== '') rmSync(temp, { recursive: true, force: true });
  }
}
