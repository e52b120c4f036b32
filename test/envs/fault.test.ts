import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { type FaultSchedule, fires } from '../../harness/envs/fault-schedule.js';
import { createRegistry, resolveKind } from '../../harness/envs/registry.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';
import { firstDifference, recordTrajectory } from '../../harness/envs/trajectory.js';
import { openRange } from './broken-kinds.js';

const registry = await createRegistry();
const faulty = (rule: Record<string, unknown>, kind = 'cartpole') => resolveKind(registry, 'fault', { kind, schedule: [rule] });
const script = fileURLToPath(new URL('./fixtures/run-fault.ts', import.meta.url));

/** Runs the fixture; `until`: kills it once its output has this, for faults that never return. */
async function runChild(rule: Record<string, unknown>, epoch = 0, until?: RegExp) {
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(rule), String(epoch)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    if (until?.test(output) === true) child.kill('SIGKILL');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, output };
}

describe('fault', () => {
  const values: readonly (readonly [string, string, RegExp])[] = [
    ['throw', 'env-failed', /step threw Error: scheduled fault in step of env 100, episode 0, step 3/],
    ['nan', 'contract', /vector\[0\] is NaN/],
    ['nan-reward', 'contract', /reward is NaN/],
    ['shape', 'contract', /vector is Float32Array\[3\]/],
    ['dtype', 'contract', /vector is Float64Array\[4\]/],
    ['reward-array', 'contract', /reward is array\[1\]/],
    ['reward-bigint', 'contract', /reward is bigint 1n/],
    ['undefined', 'contract', /result is undefined/],
  ];
  for (const [fault, code, says] of values) {
    it(`${fault} on step 3 of env 100 is seen, and only there`, async () => {
      // Goal: the fault happens where the schedule says, and the harness names it.
      const { port, table, failures } = openRange(faulty({ fault, atStep: 3, envIds: [100] }), 2);
      await constructSlots(table);
      for (let round = 0; round < 6; round++) {
        port.claim(2);
        stepClaimed(table);
        publishClaimed(table, 'full');
        assert.equal(failures.length, round < 3 ? 0 : 1);
      }
      assert.equal(failures[0]?.error.code, code);
      assert.match(failures[0]?.error.message ?? '', says);
      assert.equal(port.published[1], 6);
    });
  }

  it('exit ends the process with its code', { timeout: 30_000 }, async () => {
    // Goal: a worker's exit can be staged.
    const { code, output } = await runChild({ fault: 'exit', atStep: 2, code: 9 });
    assert.equal(code, 9);
    assert.match(output, /round 2 rss \d+\n$/);
  });

  it('segfault ends the process with SIGSEGV', { timeout: 30_000 }, async () => {
    // Goal: the kernel reports the signal of a real crash.
    const { signal } = await runChild({ fault: 'segfault', on: 'reset', envIds: [1] });
    assert.equal(signal, 'SIGSEGV');
  });

  it('spin never returns', { timeout: 30_000 }, async () => {
    // Goal: a hung step is a hang: only a kill ends it, and no later round is reached.
    const { signal, output } = await runChild({ fault: 'spin', atStep: 1 }, 0, /round 1/);
    assert.equal(signal, 'SIGKILL');
    assert.doesNotMatch(output, /round 2|survived/);
  });

  it('leak keeps what it allocates', { timeout: 30_000 }, async () => {
    // Goal: resident memory grows by the megabytes asked for, each call.
    const { output } = await runChild({ fault: 'leak', megabytes: 20 });
    const rss = [...output.matchAll(/rss (\d+)/g)].map((match) => Number(match[1]));
    // Rounds 1 to 3 step two envs each before round 4 is printed: 6 x 20 MB.
    assert.ok((rss[4] as number) - (rss[1] as number) > 100e6, rss.join());
  });

  it('onlyEpoch spares the restarted worker', { timeout: 30_000 }, async () => {
    // Goal: a scheduled crash does not repeat in the next life.
    const rule = { fault: 'exit', atStep: 2, onlyEpoch: 0 };
    assert.equal((await runChild(rule, 0)).code, 7);
    const second = await runChild(rule, 1);
    assert.equal(second.code, 0);
    assert.match(second.output, /survived/);
  });

  it('sleep and slow give back the step they delayed', async () => {
    // Goal: late is not wrong: the trajectory is the bare one.
    const bare = await recordTrajectory(resolveKind(registry, 'cartpole'), { envs: 2, rounds: 30 });
    for (const rule of [
      { fault: 'sleep', ms: 1 },
      { fault: 'slow', factor: 10 },
      { fault: 'slow', micros: 50 },
    ]) {
      const late = await recordTrajectory(faulty({ ...rule, probability: 0.3 }), { envs: 2, rounds: 30 });
      assert.equal(firstDifference(bare.events, late.events), undefined);
      assert.equal(late.failures.length, 0);
    }
  });

  it('slow takes as long as its micros say', () => {
    // Goal: a straggler is one: 20 steps of at least 500 us more. A lower bound needs no quiet machine.
    // mountain-car lasts 200 steps, so that no round of the 21 but the first is a reset.
    const kind = faulty({ fault: 'slow', micros: 500 }, 'mountain-car');
    const { port, table } = openRange(kind, 1);
    return constructSlots(table).then(() => {
      const begin = performance.now();
      for (let round = 0; round < 21; round++) {
        port.claim(1);
        stepClaimed(table);
        publishClaimed(table, 'off');
      }
      const tookMs = performance.now() - begin;
      assert.ok(tookMs >= 20 * 0.5, `${tookMs} ms`);
    });
  });

  it('leaves an env that never fires exactly as it would be bare', async () => {
    // Goal: the wrapper draws nothing from the env's own stream.
    for (const kind of ['cartpole', 'pendulum', 'field']) {
      const rounds = kind === 'field' ? 20 : 200;
      const bare = await recordTrajectory(resolveKind(registry, kind), { envs: 2, rounds });
      const wrapped = await recordTrajectory(faulty({ fault: 'throw', probability: 0 }, kind), { envs: 2, rounds });
      assert.equal(firstDifference(bare.events, wrapped.events), undefined);
    }
  });

  it('fires on the same calls for the same seed, about as often as its probability', () => {
    // Goal: a run with faults can be repeated, and its fault rate is the one asked for.
    const { schedule } = faulty({ fault: 'throw', probability: 0.02 }).config as { schedule: FaultSchedule };
    const calls = (seed: number, rules = schedule.rules): string => {
      const fired: string[] = [];
      for (let envId = 0; envId < 100; envId++) {
        for (let step = 1; step <= 100; step++) {
          if (fires({ ...schedule, seed, rules }, 0, 'step', { envId, episode: 1, step, epoch: 0 })) fired.push(`${envId}.${step}`);
        }
      }
      return fired.join();
    };
    assert.equal(calls(1), calls(1));
    assert.notEqual(calls(1), calls(2));
    // 10,000 calls at 0.02: 200, five standard deviations are 70.
    assert.ok(Math.abs(calls(1).split(',').length - 200) < 70);
  });

  it('breaks only the chosen part of the envs', () => {
    // Goal: 5 % stragglers are 5 % of the envs, the same ones in every episode.
    const { schedule } = resolveKind(registry, 'fault', { kind: 'noop', fraction: 0.05, schedule: [{ fault: 'slow' }] }).config as {
      schedule: FaultSchedule;
    };
    const chosen = (episode: number): number[] =>
      Array.from({ length: 7000 }, (_, envId) => envId).filter((envId) =>
        fires(schedule, 0, 'step', { envId, episode, step: 1, epoch: 0 }),
      );
    assert.deepEqual(chosen(0), chosen(7));
    assert.ok(Math.abs(chosen(0).length - 350) < 91, `${chosen(0).length}`);
  });
});
