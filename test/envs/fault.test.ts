import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { type FaultSchedule, fires, waitMs } from '../../harness/envs/fault-schedule.js';
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

  it('abort ends the process with SIGABRT', { timeout: 30_000 }, async () => {
    // Goal: a native assertion is a death by signal.
    const { signal } = await runChild({ fault: 'abort', atStep: 1, envIds: [1] });
    assert.equal(signal, 'SIGABRT');
  });

  it('block holds the event loop when no env is in work', { timeout: 30_000 }, async () => {
    // Goal: steps go on until the loop gets its turn, and then nothing does.
    const { output, signal } = await runChild({ fault: 'block', atStep: 1, envIds: [1] }, 0, /survived/);
    assert.match(output, /survived/);
    assert.equal(signal, 'SIGKILL');
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

  it('leak by time keeps so much a second, and no more for a pause', () => {
    // Goal: 50 MB/s is 50 MB/s at any speed of steps.
    const rss = process.memoryUsage().rss;
    const { port, table } = openRange(faulty({ fault: 'leak', megabytesPerSecond: 200, times: 3 }, 'noop'), 1);
    return constructSlots(table).then(() => {
      for (let round = 0; round < 4; round++) {
        const until = performance.now() + 100;
        while (performance.now() < until);
        port.claim(1);
        stepClaimed(table);
        publishClaimed(table, 'off');
      }
      // Steps 1 to 3 leak 200 MB/s x 0.1 s each; a loaded machine makes the rounds longer, up to 1 s each.
      const grown = process.memoryUsage().rss - rss;
      assert.ok(grown > 50e6 && grown < 700e6, `${grown}`);
    });
  });

  it('never leaves a constructor open, which gives up at its deadline', async () => {
    // Goal: a constructor that never comes back is one failed env.
    const limits = { constructMs: 20, closeMs: 20 };
    const { table, failures } = openRange(faulty({ fault: 'never', on: 'construct', envIds: [100] }), 2, { limits });
    assert.equal(await constructSlots(table), 1);
    assert.match(failures[0]?.error.message ?? '', /env 100 \(fault\): construct did not finish within 0\.02 s, its deadline/);
  });

  it('pause stops the process when half of the observation is written, and the frame is whole afterwards', async () => {
    // Goal: killed mid-frame can be staged: the first half is new, the second half old.
    const bare = openRange(resolveKind(registry, 'mountain-car'), 1);
    const { port, table } = openRange(faulty({ fault: 'pause', atStep: 2 }, 'mountain-car'), 1);
    let atStop: number[] = [];
    const observation = (of: typeof table): Float32Array => (of.slots[0] as (typeof of.slots)[0]).obs.vector as Float32Array;
    const kill = mock.method(process, 'kill', (_pid: number, signal: string) => {
      assert.equal(signal, 'SIGSTOP');
      atStop = [...observation(table)];
      return true;
    });
    try {
      for (const bench of [bare, { port, table }]) {
        await constructSlots(bench.table);
        for (let round = 0; round < 3; round++) {
          bench.port.claim(1);
          // A frame of before, two frames old, as a ring of two cells has it.
          observation(bench.table).fill(-7);
          stepClaimed(bench.table);
          publishClaimed(bench.table, 'off');
        }
      }
    } finally {
      kill.mock.restore();
    }
    const whole = [...(bare.port.newest(0).vector as Float32Array)];
    assert.deepEqual([...(port.newest(0).vector as Float32Array)], whole);
    assert.deepEqual(atStop, [whole[0], -7]);
  });

  it('times caps the faults of an env in one life', async () => {
    // Goal: an env that fails twice and is then well can be staged.
    const { port, table, failures } = openRange(faulty({ fault: 'throw', times: 2 }), 1, {
      recover: (error, index) => {
        failures.push({ envId: index, error: error as never });
        port.unpark(index);
      },
    });
    await constructSlots(table);
    for (let round = 0; round < 12; round++) {
      port.claim(1);
      stepClaimed(table);
      publishClaimed(table, 'off');
    }
    assert.equal(failures.length, 2);
    assert.ok((port.published[0] as number) >= 9);
  });

  it('perMinute spreads faults over time, about as many as asked for, the same for the same seed', () => {
    // Goal: one fault a second over a thousand envs is 0.06 a minute for each, whatever their speed.
    const { schedule } = faulty({ fault: 'throw', perMinute: 6 }).config as { schedule: FaultSchedule };
    const waits = (seed: number): number[] =>
      Array.from({ length: 2000 }, (_, n) => waitMs({ ...schedule, seed }, 0, n % 50, 0, Math.floor(n / 50)));
    assert.deepEqual(waits(1), waits(1));
    assert.notDeepEqual(waits(1), waits(2));
    const mean = waits(1).reduce((sum, wait) => sum + wait, 0) / 2000;
    // Exponential with mean 10 s: the mean of 2,000 has a deviation of 224 ms.
    assert.ok(Math.abs(mean - 10_000) < 1200, `${mean}`);
  });

  it('perMinute fires when its time has come', async () => {
    // Goal: a rule by time does fire, and not at every call.
    const { port, table, failures } = openRange(faulty({ fault: 'nan-reward', perMinute: 6000 }, 'noop'), 4);
    await constructSlots(table);
    let rounds = 0;
    while (failures.length < 4) {
      port.claim(4);
      stepClaimed(table);
      publishClaimed(table, 'off');
      rounds++;
    }
    assert.ok(rounds > 10, `${rounds}`);
  });

  it('refuses rules that make no sense', () => {
    // Goal: a typing error in a schedule is said before the run.
    for (const [rule, says] of [
      [{ fault: 'pause', on: 'close' }, /pause cannot happen on close/],
      [{ fault: 'never', on: 'step' }, /never cannot happen on step/],
      [{ fault: 'throw', perMinute: 1, probability: 0.5 }, /perMinute: is instead of probability/],
      [{ fault: 'nan', on: 'construct' }, /nan cannot happen on construct/],
    ] as const) {
      assert.throws(() => faulty(rule), says);
    }
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
