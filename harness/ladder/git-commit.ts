// The commit envladder itself runs from, where it runs from a clone.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** HEAD of the package's own repository, or null when it was installed another way. */
export function ownGitCommit(): string | null {
  const root = packageRoot();
  if (!existsSync(join(root, '.git'))) return null;
  try {
    return execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2000,
    }).trim();
  } catch {
    return null;
  }
}
