// Chooses the TensorFlow.js backend: tfjs-node-gpu, tfjs-node, else wasm. The native ones are optional packages whose binding exists only
// where `npm run setup:tfjs-node` has run. Loaded on demand: a run without a learner never pays for it.
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import type * as TfModule from '@tensorflow/tfjs';
import { EnvladderError } from '../contract/errors.js';

export type Tf = typeof TfModule;
export type BackendName = 'tfjs-node-gpu' | 'tfjs-node' | 'wasm';

export interface Backend {
  readonly name: BackendName;
  /** "4.22.0, TensorFlow 2.15.1" or "4.22.0, SIMD". */
  readonly version: string;
  readonly tf: Tf;
  /** wasm: a matmul with a transpose flag takes a path 10 times slower than an explicit transpose before it. */
  readonly explicitTranspose: boolean;
}

/** Loads a module by name; replaced in tests. Throws what the import throws. */
export type LoadModule = (name: string) => Promise<unknown>;

const require = createRequire(import.meta.url);
const loadModule: LoadModule = async (name) => require(name) as unknown;

interface NativeModule extends Tf {
  backend(): ReturnType<Tf['backend']> & { binding?: { TF_Version?: string } };
  version: Tf['version'] & { 'tfjs-node'?: string };
}

async function loadNative(name: 'tfjs-node-gpu' | 'tfjs-node', load: LoadModule): Promise<Backend> {
  // The package greets on stderr and probes CPU features; keep the run's output ours.
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2';
  const tf = (await load(`@tensorflow/${name}`)) as NativeModule;
  if (!(await tf.setBackend('tensorflow'))) throw new Error(`${name} loaded, but its backend did not initialise`);
  const library = tf.backend().binding?.TF_Version ?? 'unknown';
  const version = `${tf.version['tfjs-node'] ?? tf.version.tfjs}, TensorFlow ${library}`;
  return { name, version, tf, explicitTranspose: false };
}

interface WasmModule {
  setWasmPaths(prefix: string): void;
  version_wasm: string;
}

async function loadWasm(load: LoadModule): Promise<Backend> {
  const tf = (await load('@tensorflow/tfjs')) as Tf;
  const wasm = (await load('@tensorflow/tfjs-backend-wasm')) as WasmModule;
  // The .wasm files lie beside the package's entry; the default is the working directory.
  wasm.setWasmPaths(dirname(require.resolve('@tensorflow/tfjs-backend-wasm')) + sep);
  if (!(await tf.setBackend('wasm'))) throw new Error('the wasm backend did not initialise');
  await tf.ready();
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  return {
    name: 'wasm',
    version: `${wasm.version_wasm}, ${simd === true ? 'SIMD' : 'no SIMD'}`,
    tf,
    explicitTranspose: true,
  };
}

/**
 * Loads the wanted backend. `auto` takes the first that loads, in the order above. Throws `backend-missing` when a forced one does not
 * load, naming the way to install it.
 */
export async function openBackend(wanted: BackendName | 'auto', load: LoadModule = loadModule): Promise<Backend> {
  const order: readonly BackendName[] = wanted === 'auto' ? ['tfjs-node-gpu', 'tfjs-node', 'wasm'] : [wanted];
  let failure: unknown;
  for (const name of order) {
    try {
      return name === 'wasm' ? await loadWasm(load) : await loadNative(name, load);
    } catch (error) {
      failure = error;
    }
  }
  const reason = (failure instanceof Error ? failure.message : String(failure)).trim().split('\n')[0];
  const remedy =
    wanted === 'wasm' || wanted === 'auto'
      ? 'reinstall with `npm ci`'
      : 'build it with `npm run setup:tfjs-node`, or choose backend `auto`';
  throw new EnvladderError('backend-missing', `backend '${wanted}' cannot be loaded (${reason}): ${remedy}`, {
    cause: failure,
    detail: { backend: wanted },
  });
}
