// Goal: whatever host and load are given, the rig's slices fit the host, keep apart where they can, and a load that does not fit is refused by name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { MAX_WORKERS } from '../../harness/contract/limits.js';
import { cpuList, parseCpuList } from '../../infra/cpu-list.js';
import { LEARNER_BYTES, RIG_SLICES, type RigSizing, type SizingInput, sizeRig } from '../../infra/sizing.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

const hosts: fc.Arbitrary<SizingInput> = fc.record({
  cores: fc.integer({ min: 1, max: 1024 }),
  threadsPerCore: fc.constantFrom(1 as const, 2 as const),
  ramBytes: fc.integer({ min: GIB, max: 4096 * GIB }),
  gpus: fc.integer({ min: 0, max: 16 }),
  envs: fc.integer({ min: 1, max: 20_000 }),
  obsBytes: fc.integer({ min: 1, max: 2_000_000 }),
  cells: fc.integer({ min: 2, max: 8 }),
  envBytes: fc.integer({ min: 0, max: 200 * MIB }),
  redisReplicas: fc.integer({ min: 0, max: 4 }),
});

/** Null when the host is refused for its memory, which is an answer too. */
function sized(input: SizingInput): RigSizing | null {
  try {
    return sizeRig(input);
  } catch (error) {
    assert.ok(error instanceof EnvladderError && error.code === 'preflight', String(error));
    return null;
  }
}

const check = (law: (sizing: RigSizing, input: SizingInput) => void): void =>
  fc.assert(
    fc.property(hosts, (input) => {
      const sizing = sized(input);
      if (sizing !== null) law(sizing, input);
    }),
    { numRuns: 500 },
  );

describe('sizing a rig', () => {
  it('gives CPUs the host has, all of them, and every slice at least one', () =>
    check((sizing, { cores }) => {
      const used = new Set<number>();
      for (const name of RIG_SLICES) {
        const cpus = parseCpuList(sizing.slices[name].cpus);
        assert.ok(cpus.length > 0, name);
        for (const cpu of cpus) {
          assert.ok(cpu >= 0 && cpu < cores, `${name} ${cpu}`);
          used.add(cpu);
        }
      }
      assert.equal(used.size, cores);
    }));

  it('keeps learner, workers and the rest on CPUs of their own from four cores on', () =>
    check((sizing, { cores, threadsPerCore }) => {
      const physical = threadsPerCore === 2 && cores % 2 === 0 ? cores / 2 : cores;
      if (physical < 4) return;
      const owner = new Map<number, string>();
      for (const name of ['system', 'learner', 'workers'] as const)
        for (const cpu of parseCpuList(sizing.slices[name].cpus)) {
          const core = physical === cores ? cpu : cpu % physical;
          assert.ok((owner.get(core) ?? name) === name, `core ${core}: ${owner.get(core)} and ${name}`);
          owner.set(core, name);
        }
    }));

  it('never promises more memory than the host has, and orders low, high and max', () =>
    check((sizing, { ramBytes }) => {
      const slices = RIG_SLICES.map((name) => sizing.slices[name]);
      // What the learner loads at its start may be charged to either of two slices, so it is in both limits.
      assert.ok(slices.reduce((sum, each) => sum + each.memoryMaxBytes, 0) - LEARNER_BYTES <= ramBytes);
      for (const each of slices)
        assert.ok(each.memoryLowBytes <= each.memoryHighBytes && each.memoryHighBytes < each.memoryMaxBytes, JSON.stringify(each));
      // The segments are charged to the workers slice and must fit below the mark where the kernel slows it down.
      assert.ok(sizing.shmBytes < sizing.slices.workers.memoryMaxBytes);
    }));

  it('keeps workers, weights, tasks and descriptors within what the kernel, systemd and a plan accept', () =>
    check((sizing, { envs }) => {
      assert.ok(sizing.workers >= 1 && sizing.workers <= MAX_WORKERS && sizing.workers <= envs);
      assert.ok(sizing.nofile <= 1_048_576 && sizing.nofile >= 4096);
      assert.ok(sizing.pidMax >= 32_768 && sizing.pidMax <= 4_194_304);
      for (const name of RIG_SLICES) {
        const { cpuWeight, ioWeight, tasksMax } = sizing.slices[name];
        assert.ok(cpuWeight >= 1 && cpuWeight <= 10_000 && ioWeight >= 1 && ioWeight <= 10_000);
        assert.ok(tasksMax > 0 && Number.isSafeInteger(tasksMax));
      }
      for (const value of [sizing.shmBytes, sizing.nofile, sizing.pidMax, sizing.maxMapCount, sizing.redisMaxmemoryBytes])
        assert.ok(Number.isSafeInteger(value) && value >= 0);
    }));

  it('gives more memory to workers, never less, when the host has more', () =>
    fc.assert(
      fc.property(hosts, fc.integer({ min: 1, max: 64 }), (input, gib) => {
        const small = sized(input);
        const large = sized({ ...input, ramBytes: input.ramBytes + gib * GIB });
        if (small === null) return;
        // The system slice's own share grows with the host, by a twentieth.
        assert.ok(large !== null && large.slices.workers.memoryMaxBytes >= small.slices.workers.memoryMaxBytes);
        assert.equal(large.workers, small.workers);
      }),
    ));

  it('is a function of its input alone', () => check((sizing, input) => assert.deepEqual(sizeRig(input), sizing)));

  it("sizes the account's host: two sockets of 64 cores, 1 TB, four GPUs, 7,000 envs with pixels", () => {
    const sizing = sizeRig({ cores: 256, threadsPerCore: 2, ramBytes: 1024 * GIB, gpus: 4, envs: 7000, obsBytes: 602_112 });
    assert.deepEqual(Object.fromEntries(RIG_SLICES.map((name) => [name, sizing.slices[name].cpus])), {
      system: '0-1,128-129',
      redis: '2-3,130-131',
      learner: '4-11,132-139',
      workers: '12-127,140-255',
    });
    assert.equal(sizing.workers, 232);
    assert.equal(sizing.shmBytes, 7000 * (2 * 602_112 + 512));
  });

  it('sizes a machine of two cores and 2 GB without a GPU by sharing its CPUs', () => {
    const sizing = sizeRig({ cores: 2, ramBytes: 1900 * MIB, gpus: 0, envs: 64, obsBytes: 30_000 });
    for (const name of RIG_SLICES) assert.equal(sizing.slices[name].cpus, '0-1');
    assert.equal(sizing.workers, 1);
    // What pre-flight asks for the smoke plan, with the supervisor's shell beside it.
    assert.ok(sizing.slices.workers.memoryMaxBytes > 900 * MIB);
  });

  it('refuses envs that do not fit, with the sum, its parts and what the host has', () => {
    assert.throws(
      () => sizeRig({ cores: 2, ramBytes: 2 * GIB, gpus: 0, envs: 7000, obsBytes: 602_112 }),
      (error) =>
        error instanceof EnvladderError &&
        error.code === 'preflight' &&
        /7000 envs need .* workers .* the host has 2,048 MiB/.test(error.message),
    );
  });

  it('names the key of a value out of range', () => {
    const good: SizingInput = { cores: 4, ramBytes: 8 * GIB, gpus: 0, envs: 8, obsBytes: 64 };
    for (const [key, value] of [
      ['cores', 0],
      ['ramBytes', 1.5],
      ['gpus', -1],
      ['envs', Number.NaN],
      ['cells', 1],
    ] as const)
      assert.throws(
        () => sizeRig({ ...good, [key]: value }),
        (error) => error instanceof EnvladderError && error.code === 'bad-plan' && error.message.includes(key),
      );
  });

  it('writes CPU lists as the kernel does, and reads them back', () => {
    assert.equal(cpuList([3, 1, 2, 7, 9, 10]), '1-3,7,9-10');
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 511 })), (cpus) =>
        assert.deepEqual(
          parseCpuList(cpuList(cpus)),
          [...cpus].sort((a, b) => a - b),
        ),
      ),
    );
  });
});
