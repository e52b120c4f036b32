import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/setup-tfjs-node.mjs', import.meta.url));
const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8', env: { ...process.env, ...env }, timeout: 60_000 });

describe('setup:tfjs-node', () => {
  it('shows its state and changes nothing', () => {
    // Goal: a user sees where the cache is and whether it is built.
    const cache = mkdtempSync(join(tmpdir(), 'envladder-cache-'));
    try {
      const { status, stdout } = run(['--print'], { XDG_CACHE_HOME: cache });
      assert.equal(status, 0);
      assert.match(stdout, /library {2}tensorflow-cpu 2\.15\.1/);
      assert.ok(stdout.includes(`${cache}/envladder/tfjs-node-`) && stdout.includes('(not built)'), stdout);
      assert.deepEqual(readdirSync(cache), []);
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  });

  it('says what is missing instead of failing somewhere inside', () => {
    // Goal: each refusal names the thing and the way to get it; nothing is left behind.
    const cache = mkdtempSync(join(tmpdir(), 'envladder-cache-'));
    try {
      const noPython = run([], { XDG_CACHE_HOME: cache, PATH: cache });
      assert.equal(noPython.status, 1);
      assert.match(noPython.stderr, /no python3 with pip was found on the PATH; install one/);
      const unknown = run(['--force']);
      assert.equal(unknown.status, 1);
      assert.match(unknown.stderr, /unknown argument '--force'/);
      assert.deepEqual(readdirSync(cache), []);
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  });
});
