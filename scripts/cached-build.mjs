// A folder under the user's cache that is built once and then only used: for what takes minutes to make and does not change (the Pulumi
// CLI, the test machine's image). The key is in the folder's name; another key is another folder, and the older ones stay until removed.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** An operating error with its exit code: 75 says that this machine lacks something, so the caller may skip; 70 that it failed. */
export class SetupError extends Error {
  constructor(message, exitCode = 70) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const EXIT_LACKING = 75;

export function cacheRoot() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'envladder');
}

/** No build takes so long; a cache may be shared by machines that do not see each other's processes. */
const ABANDONED_MS = 3 * 3_600_000;

/** Removes what a killed build left: its folder carries its process id. */
function sweepAbandoned(root) {
  for (const name of readdirSync(root)) {
    const pid = /^building-(\d+)-/.exec(name)?.[1];
    const folder = join(root, name);
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    if (Date.now() - statSync(folder, { throwIfNoEntry: false })?.mtimeMs > ABANDONED_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The folder `name` in the cache; when it is not there, `build(work)` fills a folder beside it and a rename takes it over, so that a build
 * that was interrupted leaves nothing that looks finished. Two builds at once do the work twice and the slower one is thrown away.
 */
export async function buildOnce(name, neededBytes, build) {
  const root = cacheRoot();
  const folder = join(root, name);
  if (existsSync(folder)) return folder;
  mkdirSync(root, { recursive: true });
  sweepAbandoned(root);
  const { bavail, bsize } = statfsSync(root);
  if (bavail * bsize < neededBytes) {
    const [free, needed] = [bavail * bsize, neededBytes].map((bytes) => Math.floor(bytes / 2 ** 20));
    throw new SetupError(
      `${root} has ${free} MB free, ${needed} MB are needed: make room, or set XDG_CACHE_HOME to another disk`,
      EXIT_LACKING,
    );
  }
  const work = mkdtempSync(join(root, `building-${process.pid}-`));
  try {
    await build(work);
    try {
      renameSync(work, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Runs a setup script's main function; operating errors become one line and an exit code. What is lacking is said on stdout too, for callers. */
export async function runSetup(name, main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.error(`${name}: ${error.message}`);
    if (error.exitCode === EXIT_LACKING) console.log(error.message);
    process.exitCode = error.exitCode;
  }
}
