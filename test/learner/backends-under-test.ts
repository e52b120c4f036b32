// The backends that numerical tests run on: wasm always, tfjs-node where `npm run setup:tfjs-node` has built it. A missing one is said.
import { type Backend, openBackend } from '../../harness/learner/backends.js';

export async function backendsUnderTest(): Promise<Backend[]> {
  const found = [await openBackend('wasm')];
  try {
    found.push(await openBackend('tfjs-node'));
  } catch (error) {
    console.log(`SKIPPED(tfjs-node: ${(error as Error).message})`);
  }
  return found;
}

/** Runs `check` on each, switching the shared engine in between: both live in one process here, never in a real one. */
export async function onEachBackend(check: (backend: Backend) => void | Promise<void>): Promise<void> {
  for (const backend of await backendsUnderTest()) {
    const engine = backend.name === 'wasm' ? 'wasm' : 'tensorflow';
    await backend.tf.setBackend(engine);
    await check(backend);
  }
}
