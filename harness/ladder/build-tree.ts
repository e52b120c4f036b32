// Makes a worktree runnable: packages, native addon, dist. What the clone already has is used again where it is the same: its node_modules
// by a link when the lockfiles are equal, its addon by a copy that build.mjs judges by hash.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import type { Interrupts } from './interrupts.js';
import { runChild } from './run-child.js';

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Commands, in order, that build `tree`, given what is linked already. */
function buildSteps(linked: boolean): readonly (readonly string[])[] {
  const node = process.execPath;
  return [
    ...(linked ? [] : [['npm', 'ci', '--ignore-scripts=false', '--no-audit', '--no-fund']]),
    [node, 'native/build.mjs'],
    [node, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
  ];
}

/** Builds `tree` with the help of the clone at `root`. False when interrupted; throws `bad-usage` with the failing step's own words. */
export async function buildTree(tree: string, root: string, label: string, interrupts: Interrupts): Promise<boolean> {
  const lock = textOf(join(root, 'package-lock.json'));
  const linked = lock !== null && lock === textOf(join(tree, 'package-lock.json')) && existsSync(join(root, 'node_modules'));
  if (linked) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  mkdirSync(join(tree, 'native', 'build'), { recursive: true });
  for (const name of ['envladder.node', 'envladder.node.hash']) {
    const built = join(root, 'native', 'build', name);
    if (existsSync(built)) cpSync(built, join(tree, 'native', 'build', name));
  }
  for (const step of buildSteps(linked)) {
    if (interrupts.count() > 0) return false;
    const end = await runChild(step, tree, interrupts);
    if (interrupts.count() > 0) return false;
    if (end.code !== 0) {
      throw new EnvladderError(
        'bad-usage',
        `${label} does not build: '${step.join(' ')}' ended with ${end.signal ?? end.code ?? 'an error'}\n${end.stderrTail}\nbuild it by hand first, or compare run folders instead`,
      );
    }
  }
  return true;
}
