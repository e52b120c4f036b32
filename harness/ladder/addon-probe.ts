// Whether the native addon loads in this process.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from './package-root.js';

/** Why it does not load, in one line, or null. */
export function addonProblem(): string | null {
  try {
    createRequire(import.meta.url)(join(packageRoot(), 'native', 'build', 'envladder.node'));
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? 'does not load';
  }
}
