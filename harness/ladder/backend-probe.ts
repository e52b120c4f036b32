// Whether the learner backend a plan asks for is there, told without loading it: TensorFlow takes a second to load, a look at its files
// does not. The learner makes the final choice and names it in the record.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plan } from '../contract/plan.js';

type BackendName = Exclude<Plan['backend'], 'auto'>;

const require = createRequire(import.meta.url);

function packageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** Why `backend` cannot run here, as the text of the `found` column, or null. `auto` always has wasm to fall back on. */
export function backendProblem(backend: Plan['backend']): string | null {
  if (backend === 'auto' || backend === 'wasm') {
    return packageFolder('@tensorflow/tfjs-backend-wasm') === undefined
      ? '@tensorflow/tfjs-backend-wasm is not installed (run: npm ci)'
      : null;
  }
  const folder = packageFolder(`@tensorflow/${backend}`);
  if (folder === undefined) return `@tensorflow/${backend} is not installed`;
  const binding = join(folder, 'lib', 'napi-v8', 'tfjs_binding.node');
  return existsSync(binding) ? null : `@tensorflow/${backend} is installed but its native part is not built`;
}

/** The backend that will run, as far as its files tell: for `auto` the first that is there, in the learner's order; null = none. */
export function backendFound(backend: Plan['backend'], problem: (name: BackendName) => string | null = backendProblem): string | null {
  const order: readonly BackendName[] = backend === 'auto' ? ['tfjs-node-gpu', 'tfjs-node', 'wasm'] : [backend];
  return order.find((name) => problem(name) === null) ?? null;
}
