// Two worktrees of this clone in one temporary folder: a git ref and the tree as it is now, uncommitted and untracked files included. Neither
// the clone's files nor its index are touched. Removed on every exit; what a SIGKILL leaves is swept by the next comparison.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';

const PREFIX = 'envladder-compare-';

export interface Worktrees {
  readonly base: string;
  readonly candidate: string;
  readonly baseCommit: string;
  /** "abc123" or "abc123 with uncommitted changes". */
  readonly candidateName: string;
  /** Safe to call twice. */
  remove(): void;
}

function git(root: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  return execFileSync('git', ['-C', root, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  }).trim();
}

function commitOf(root: string, ref: string): string {
  try {
    return git(root, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  } catch (cause) {
    throw new EnvladderError(
      'bad-usage',
      `--base ${ref}: no such commit in ${root}; give a branch, tag or commit of envladder's own clone (git fetch it first)`,
      { cause },
    );
  }
}

/** The tree as it is, as a commit that no branch holds. */
function snapshot(root: string, folder: string): string {
  const index = { GIT_INDEX_FILE: join(folder, 'index') };
  const who = { GIT_AUTHOR_NAME: 'envladder', GIT_AUTHOR_EMAIL: 'envladder@localhost' };
  git(root, ['read-tree', 'HEAD'], index);
  git(root, ['add', '--all'], index);
  const tree = git(root, ['write-tree'], index);
  return git(root, ['commit-tree', tree, '-p', 'HEAD', '-m', 'The tree as it is'], {
    ...who,
    GIT_COMMITTER_NAME: who.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: who.GIT_AUTHOR_EMAIL,
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function removeTree(root: string, path: string): void {
  // A linked node_modules goes as a link: neither git nor rm follows it into the clone's own packages.
  try {
    git(root, ['worktree', 'remove', '--force', '--force', path]);
  } catch {
    rmSync(path, { force: true, recursive: true });
  }
}

/** Worktrees whose comparison was killed: their folder carries its pid. */
function sweepDead(root: string): void {
  for (const line of git(root, ['worktree', 'list', '--porcelain']).split('\n')) {
    const path = line.startsWith('worktree ') ? line.slice('worktree '.length) : '';
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(basename(dirname(path)));
    if (owner === null || isAlive(Number(owner[1]))) continue;
    removeTree(root, path);
    rmSync(dirname(path), { force: true, recursive: true });
  }
  git(root, ['worktree', 'prune']);
}

/** Creates both. Throws `bad-usage` outside a clone and for a ref that is not there. */
export function createWorktrees(root: string, ref: string): Worktrees {
  if (!existsSync(join(root, '.git'))) {
    throw new EnvladderError('bad-usage', `--base needs envladder's own git clone, and ${root} is none; compare run folders instead`);
  }
  const baseCommit = commitOf(root, ref);
  sweepDead(root);
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const base = join(folder, 'base');
  const candidate = join(folder, 'candidate');
  let removed = false;
  const remove = (): void => {
    if (removed) return;
    removed = true;
    process.off('exit', remove);
    for (const path of [base, candidate]) if (existsSync(path)) removeTree(root, path);
    rmSync(folder, { force: true, recursive: true });
    git(root, ['worktree', 'prune']);
  };
  // For the exits that no `finally` sees.
  process.on('exit', remove);
  try {
    const head = commitOf(root, 'HEAD');
    const dirty = git(root, ['status', '--porcelain']) !== '';
    git(root, ['worktree', 'add', '--quiet', '--detach', base, baseCommit]);
    git(root, ['worktree', 'add', '--quiet', '--detach', candidate, dirty ? snapshot(root, folder) : head]);
    const candidateName = `${head.slice(0, 12)}${dirty ? ' with uncommitted changes' : ''}`;
    return { base, candidate, baseCommit, candidateName, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
