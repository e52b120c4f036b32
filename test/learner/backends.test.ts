import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { openBackend } from '../../harness/learner/backends.js';

const require = createRequire(import.meta.url);
const withoutNative = async (name: string): Promise<unknown> => {
  if (name.includes('tfjs-node')) throw new Error(`Cannot find module '${name}'\nRequire stack: ...`);
  return require(name) as unknown;
};

describe('backend choice', () => {
  it('falls back to wasm when no native backend loads, and says what runs', { timeout: 60_000 }, async () => {
    // Goal: a plain npm ci trains; the record names backend and version.
    const backend = await openBackend('auto', withoutNative);
    assert.equal(backend.name, 'wasm');
    assert.match(backend.version, /^4\.\d+\.\d+, (no )?SIMD$/);
    assert.equal(backend.tf.getBackend(), 'wasm');
  });

  it('asks for the native ones first: GPU, then CPU', async () => {
    // Goal: the fastest that is there is taken.
    const asked: string[] = [];
    await openBackend('auto', async (name) => {
      asked.push(name);
      return withoutNative(name);
    });
    assert.deepEqual(asked.slice(0, 3), ['@tensorflow/tfjs-node-gpu', '@tensorflow/tfjs-node', '@tensorflow/tfjs']);
  });

  it('refuses a forced backend that is missing and names the way to install it', async () => {
    // Goal: no silent fall-back for somebody who asked for a backend.
    await assert.rejects(openBackend('tfjs-node', withoutNative), (error) => {
      assert.ok(error instanceof EnvladderError, String(error));
      assert.equal(error.code, 'backend-missing');
      assert.match(
        error.message,
        /backend 'tfjs-node' cannot be loaded \(Cannot find module '@tensorflow\/tfjs-node'\): .*npm run setup:tfjs-node/,
      );
      return true;
    });
  });

  it('loads tfjs-node where it is built', { timeout: 60_000 }, async (test) => {
    // Goal: the recipe of scripts/setup-tfjs-node.mjs gives a backend that computes.
    let backend: Awaited<ReturnType<typeof openBackend>>;
    try {
      backend = await openBackend('tfjs-node');
    } catch (error) {
      test.skip(`SKIPPED(${(error as Error).message})`);
      return;
    }
    assert.match(backend.version, /^4\.\d+\.\d+, TensorFlow 2\.\d+\.\d+$/);
    assert.equal(backend.tf.getBackend(), 'tensorflow');
    assert.deepEqual([...backend.tf.matMul([[1, 2]], [[3], [4]]).dataSync()], [11]);
  });
});
