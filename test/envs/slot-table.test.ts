import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ABANDONED, FIRST, QUARANTINED } from '../../harness/contract/frame-flags.js';
import { constructSlots } from '../../harness/envs/construct-slots.js';
import { PROGRESS_OP } from '../../harness/envs/range-port.js';
import { createRegistry, resolveKind } from '../../harness/envs/registry.js';
import { createSeedStream } from '../../harness/envs/seed-stream.js';
import { EPISODES_PER_EPOCH } from '../../harness/envs/slot-table.js';
import { publishClaimed, stepClaimed } from '../../harness/envs/step-claimed.js';
import { firstDifference, recordTrajectory } from '../../harness/envs/trajectory.js';
import { OP } from '../../harness/memory/control.js';
import { brokenKind, openRange } from './broken-kinds.js';

const registry = await createRegistry();

describe('the slot table', () => {
  for (const name of ['cartpole', 'pendulum', 'field']) {
    it(`${name}: equal trajectories for 1, 2 and 8 workers`, { timeout: 60_000 }, async () => {
      // Goal: the same seed gives every env the same life, however the ids are split and in whatever order they are served.
      const envs = name === 'field' ? 8 : 24;
      const rounds = name === 'field' ? 20 : 250;
      const kind = resolveKind(registry, name);
      const whole = await recordTrajectory(kind, { envs, rounds, baseSeed: 9 });
      for (const workers of [2, 8]) {
        const share = envs / workers;
        const parts = [];
        for (let worker = 0; worker < workers; worker++) {
          const part = await recordTrajectory(kind, {
            envs: share,
            firstEnvId: worker * share,
            rounds: 3 * rounds,
            baseSeed: 9,
            shuffled: true,
          });
          parts.push(...part.events);
        }
        assert.equal(parts.length, envs);
        for (const events of parts) assert.ok(events.length >= rounds);
        assert.equal(firstDifference(whole.events, parts), undefined);
      }
      const other = await recordTrajectory(kind, { envs, rounds, baseSeed: 10 });
      assert.notEqual(firstDifference(whole.events, other.events), undefined);
    });
  }

  it('starts the episodes of a later life where no earlier life has been', async () => {
    // Goal: a restarted worker does not train its first episodes twice.
    const seen: number[] = [];
    const kind = brokenKind({ reset: (slot) => void seen.push(slot.episode, (slot.obs.vector as Float32Array)[0] as number) });
    const { port, table } = openRange(kind, 1, { epoch: 3, baseSeed: 5 });
    await constructSlots(table);
    port.claim(1);
    stepClaimed(table);
    const episode = 3 * EPISODES_PER_EPOCH;
    assert.deepEqual(seen, [episode, Math.fround(createSeedStream(5, 100, episode, 3).uniform())]);
  });

  it('never meets the seeds of a later life, however many episodes a life has', async () => {
    // Goal: an env that used up 2^20 episodes draws other episodes than its worker's next life, though their numbers are the same.
    const firstDraw = async (epoch: number, episode: number): Promise<number> => {
      const { port, table } = openRange(brokenKind({}), 1, { epoch, baseSeed: 5 });
      await constructSlots(table);
      (table.slots[0] as { episode: number }).episode = episode;
      port.claim(1);
      stepClaimed(table);
      publishClaimed(table, 'full');
      return (port.newest(0).vector as Float32Array)[0] as number;
    };
    const numbered = await firstDraw(0, EPISODES_PER_EPOCH);
    assert.equal(numbered, Math.fround(createSeedStream(5, 100, EPISODES_PER_EPOCH).uniform()));
    assert.notEqual(numbered, await firstDraw(1, EPISODES_PER_EPOCH));
  });

  it('hands the stream of (base seed, env id, episode) to each reset', async () => {
    // Goal: seeds follow the id and the episode, not the slot.
    const seen: number[] = [];
    const kind = brokenKind({ reset: (slot) => void seen.push((slot.obs.vector as Float32Array)[0] as number) }, { timeLimit: () => 1 });
    const { port, table } = openRange(kind, 2);
    await constructSlots(table);
    for (let round = 0; round < 3; round++) {
      port.claim(2);
      stepClaimed(table);
      publishClaimed(table, 'full');
    }
    const want = [0, 1].flatMap((episode) => [100, 101].map((env) => Math.fround(createSeedStream(1, env, episode).uniform())));
    assert.deepEqual(seen, want);
  });

  it('says which env and operation is in work', async () => {
    // Goal: whoever finds the worker dead in an env reads its id and operation from the progress words.
    const words = new Int32Array(2).fill(-9);
    const seen: number[][] = [];
    const note = () => void seen.push([...words]);
    const kind = brokenKind({
      construct: note,
      reset: note,
      step: (_slot, result) => {
        note();
        return result;
      },
    });
    const { port, table } = openRange(kind, 2, { progress: words });
    await constructSlots(table);
    for (let round = 0; round < 2; round++) {
      port.claim(2);
      stepClaimed(table);
      publishClaimed(table, 'off');
    }
    const { construct, reset, step, idle } = PROGRESS_OP;
    assert.deepEqual(seen, [
      [100, construct],
      [101, construct],
      [100, reset],
      [101, reset],
      [100, step],
      [101, step],
    ]);
    assert.deepEqual([...words], [-1, idle]);
  });

  it('uses the codes of the shared progress line', () => {
    // Goal: envs and memory, which may not import each other, agree on the op codes.
    assert.deepEqual(PROGRESS_OP, OP);
  });

  it('survives a throw of stepMany: the run starts anew, and the next throw names its env', async () => {
    // Goal: one bad env behind stepMany costs its neighbours one trajectory, not their lives.
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', onWarning);
    const kind = brokenKind({
      stepMany: () => {
        throw new Error('somewhere');
      },
      step: (slot, result) => {
        if (slot.envId === 101) throw new Error('here');
        return result;
      },
    });
    const { port, table, failures } = openRange(kind, 3);
    await constructSlots(table);
    const round = () => {
      port.claim(3);
      stepClaimed(table);
      publishClaimed(table, 'full');
      return [...port.lastFlags];
    };
    assert.deepEqual(round(), [FIRST, FIRST, FIRST]);
    assert.deepEqual(round(), [FIRST | ABANDONED, FIRST | ABANDONED, FIRST | ABANDONED]);
    assert.deepEqual(round(), [0, ABANDONED | QUARANTINED, 0]);
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.error.message ?? '', /env 101 \(broken\): step threw Error: here/);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    assert.match(warnings.join(), /stepMany threw Error: somewhere for slots 0\.\.2/);
  });

  it('constructs bounded-parallel and hands out each slot when it is done', { timeout: 10_000 }, async () => {
    // Goal: never more than `parallel` constructors in flight; a slot that is ready does not wait for a slow one.
    let inFlight = 0;
    let most = 0;
    const release = new Map<number, () => void>();
    const kind = brokenKind({
      construct: async (slot) => {
        most = Math.max(most, ++inFlight);
        await new Promise<void>((done) => release.set(slot.envId, done));
        inFlight--;
      },
    });
    const { port, table } = openRange(kind, 7);
    const active: number[] = [];
    const built = constructSlots(table, { parallel: 3, onActive: (index) => active.push(index) });
    const settle = () => new Promise((done) => setImmediate(done));
    await settle();
    assert.deepEqual([...release.keys()], [100, 101, 102]);
    release.get(101)?.();
    await settle();
    assert.deepEqual(active, [1]);
    assert.equal(port.claim(7), 1);
    for (const envId of [100, 102, 103, 104, 105, 106]) {
      while (!release.has(envId)) await settle();
      release.get(envId)?.();
    }
    assert.equal(await built, 7);
    assert.equal(most, 3);
  });

  it('gives box and multi-discrete actions as arrays of the declared length', async () => {
    // Goal: actions arrive whole and from the right place of the plane.
    for (const action of [
      { type: 'box', shape: [2], low: -1, high: 1 },
      { type: 'multi-discrete', nvec: [3, 4] },
    ] as const) {
      const seen: number[][] = [];
      const base = brokenKind({}).kind;
      const kind = brokenKind(
        {},
        {
          spaces: () => ({ ...base.spaces({}), action: action as never }),
          create: (context) => ({
            ...base.create(context),
            step(_slot, given) {
              seen.push(Array.from(given as Float32Array));
              return { reward: 0, terminated: false, truncated: false, obs: { vector: new Float32Array(4) } };
            },
          }),
        },
      );
      const { port, table } = openRange(kind, 2);
      await constructSlots(table);
      for (let round = 0; round < 2; round++) {
        port.range.action.set([1, 0, 0, 1]);
        port.claim(2);
        stepClaimed(table);
        publishClaimed(table, 'full');
      }
      assert.deepEqual(seen, [
        [1, 0],
        [0, 1],
      ]);
    }
  });

  it('refuses a create that returns a promise or no env, and says where slow work belongs', () => {
    // Goal: an async create is an easy mistake; it must not show as a thousand envs without a reset.
    const base = brokenKind({}).kind;
    const late = brokenKind({}, { create: (async (context: never) => base.create(context)) as never });
    assert.throws(() => openRange(late, 2), { code: 'bad-kind', message: /create must return an Env.*found a promise.*construct/ });
    const none = brokenKind({}, { create: (() => undefined) as never });
    assert.throws(() => openRange(none, 2), { code: 'bad-kind', message: /create must return an Env.*found undefined/ });
  });
});
