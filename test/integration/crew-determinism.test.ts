import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';

afterEach(stopAllCrews);

const FRAMES = 150;

/** Hash of the first FRAMES frames (observation, reward, flags) of every env, by env id. */
async function trajectories(workers: number, seed: number, autoreset: 'next-step' | 'same-step'): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'envladder-trace-'));
  const file = join(folder, 'trace.json');
  process.env.ENVLADDER_TEST_TRACE = file;
  process.env.ENVLADDER_TEST_FRAMES = String(FRAMES);
  try {
    const test = await raiseTestCrew({ tiers: [40, 61], mix: { cartpole: 0.6, probe: 0.4 }, workers, seed, autoreset });
    await test.crew.growTo(1);
    await until(() => existsSync(file));
    await test.crew.stop(5000);
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } finally {
    delete process.env.ENVLADDER_TEST_TRACE;
    delete process.env.ENVLADDER_TEST_FRAMES;
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const autoreset of ['next-step', 'same-step'] as const) {
  it(`equal trajectories for 1, 2 and 8 workers (${autoreset})`, { timeout: 90_000 }, async () => {
    // Goal: what an env lives through depends on seed and env id alone, not on where it runs.
    const one = await trajectories(1, 7, autoreset);
    assert.equal(Object.keys(one).length, 61);
    assert.deepEqual(await trajectories(2, 7, autoreset), one);
    assert.deepEqual(await trajectories(8, 7, autoreset), one);
    const other = await trajectories(1, 8, autoreset);
    const cartpoles = Object.keys(one).filter((envId) => one[envId] !== other[envId]);
    assert.ok(cartpoles.length >= 36, 'another seed gives other trajectories');
  });
}
