// Pre-flight refuses exactly when something needed is missing, names needed, found and remedy, and never for what it cannot find out.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import type { Isolation } from '../../harness/contract/plan-health.js';
import type { ActionSpace, Spaces } from '../../harness/contract/spaces.js';
import { backendFound } from '../../harness/ladder/backend-probe.js';
import { cgroupRoom } from '../../harness/ladder/cgroup-limits.js';
import { parameterCount, rolloutBytes } from '../../harness/ladder/learner-needs.js';
import { softLimit } from '../../harness/ladder/machine-probes.js';
import { planNeeds } from '../../harness/ladder/plan-needs.js';
import { evaluatePreflight, type MachineProbes, refuseIfUnfit } from '../../harness/ladder/preflight.js';
import { headFor } from '../../harness/learner/head-for.js';
import { initialParameters } from '../../harness/learner/network-shape.js';
import { planObservation } from '../../harness/learner/observation-plan.js';
import { createRollout } from '../../harness/learner/rollout.js';
import { createShuffler } from '../../harness/learner/shuffler.js';
import { layoutSegment } from '../../harness/memory/layout.js';
import { planBlocks } from '../../harness/supervisor/block-plan.js';
import { entry, makePlan, PIXELS, VECTOR } from './plan-fixture.js';

const MIB = 2 ** 20;
const plan = makePlan({ tiers: [1000, 7000], seconds: 20, mix: { cartpole: 0.9, field: 0.1 } });
const entries = [entry('cartpole'), entry('field', PIXELS)];
const needs = planNeeds(plan, entries);

const ROOMY: MachineProbes = {
  cores: 2,
  memoryBytes: 64 * 1024 * MIB,
  memoryLimitedBy: 'available',
  openFiles: 4096,
  tasks: Number.POSITIVE_INFINITY,
  tasksLimitedBy: '',
  fileSizeBytes: Number.POSITIVE_INFINITY,
  addressSpaceBytes: Number.POSITIVE_INFINITY,
  diskBytes: 1e12,
  diskPath: '/somewhere',
  node: 'v20.20.2',
  os: 'linux',
  addonProblem: null,
  backend: 'auto',
  backendProblem: null,
  backendFound: 'wasm',
  controllers: ['cpu', 'memory'],
  controllersProblem: null,
};

const failing = (probes: Partial<MachineProbes>): string[] =>
  evaluatePreflight(needs, { ...ROOMY, ...probes }).flatMap((row) => (row.ok ? [] : [row.check]));

function refusal(probes: Partial<MachineProbes>): string {
  try {
    refuseIfUnfit(evaluatePreflight(needs, { ...ROOMY, ...probes }));
  } catch (error) {
    assert.ok(error instanceof EnvladderError);
    assert.equal(error.code, 'preflight');
    return error.message;
  }
  return assert.fail('not refused');
}

describe('pre-flight', () => {
  it('lets a roomy machine pass', () => {
    assert.deepEqual(failing({}), []);
    refuseIfUnfit(evaluatePreflight(needs, ROOMY));
  });

  for (const [check, probes] of [
    ['node', { node: 'v18.20.0' }],
    ['node', { node: 'v20.18.3' }],
    ['node', { node: 'v23.1.0' }],
    ['operating system', { os: 'darwin' }],
    ['native addon', { addonProblem: 'not built' }],
    ['file size limit', { fileSizeBytes: MIB }],
    ['address space', { addressSpaceBytes: 8 * 1024 * MIB }],
    ['file descriptors', { openFiles: 256 }],
    ['processes and threads', { tasks: 20 }],
    ['disk', { diskBytes: MIB }],
    ['learner backend', { backendProblem: 'not installed' }],
  ] as const satisfies readonly (readonly [string, Partial<MachineProbes>])[]) {
    it(`refuses for '${check}' alone (${JSON.stringify(Object.values(probes)[0])}) and says what to do`, () => {
      assert.deepEqual(failing(probes), [check]);
      const advice = evaluatePreflight(needs, { ...ROOMY, ...probes }).find((row) => !row.ok)?.advice;
      assert.ok(advice !== undefined && advice.length > 10);
    });
  }

  it('refuses a machine with 64 MB of memory, with needed, found and remedy', () => {
    const message = refusal({ memoryBytes: 64 * MIB, memoryLimitedBy: 'left in the cgroup' });
    assert.match(message, /nothing was started/);
    assert.match(
      message,
      /memory: needed 1\.\d GiB, found 64\.0 MiB \(left in the cgroup\)\n {2}lower --tiers \(7,000 envs need 2\d\d MiB of shared memory\)/,
    );
    assert.match(message, /shared memory: needed 2\d\d MiB/);
  });

  it('accepts what is just enough and refuses one less', () => {
    assert.deepEqual(failing({ openFiles: needs.fds }), []);
    assert.deepEqual(failing({ openFiles: needs.fds - 1 }), ['file descriptors']);
    assert.deepEqual(failing({ memoryBytes: needs.memoryBytes }), []);
    assert.deepEqual(failing({ memoryBytes: needs.memoryBytes - 1 }), ['memory']);
  });

  it('says of one core that two are better, and does not contradict itself', () => {
    const cores = evaluatePreflight(needs, { ...ROOMY, cores: 1 }).find(({ check }) => check === 'cores');
    assert.equal(cores?.ok, true);
    assert.equal(cores?.found, '1');
    assert.match(cores?.needed ?? '', /^1 \(2 or more are better: 1 worker, a learner, a supervisor\)$/);
  });

  it('names the backend that will run', () => {
    const row = evaluatePreflight(needs, ROOMY).find(({ check }) => check === 'learner backend');
    assert.deepEqual([row?.needed, row?.found], ['auto', 'wasm']);
    assert.equal(
      backendFound('auto', (name) => (name === 'tfjs-node-gpu' ? 'not installed' : null)),
      'tfjs-node',
    );
    assert.equal(
      backendFound('auto', (name) => (name === 'wasm' ? null : 'not built')),
      'wasm',
    );
    assert.equal(
      backendFound('tfjs-node', () => 'not built'),
      null,
    );
  });

  it('never refuses for what could not be found out', () => {
    assert.deepEqual(
      failing({ memoryBytes: null, openFiles: null, tasks: null, diskBytes: null, fileSizeBytes: null, addressSpaceBytes: null }),
      [],
    );
  });
});

describe('what a plan needs', () => {
  it('counts shared memory exactly as the run will lay it out', () => {
    const laidOut = planBlocks('x', plan, entries).segments.reduce(
      (sum, { spec }) => sum + layoutSegment(spec).bytes - layoutSegment(spec).headerBytes,
      0,
    );
    assert.equal(needs.shmBytes, laidOut);
    assert.ok(needs.shmBytes >= 700 * 224 * 224 * 3 * 2, 'two cells of 700 images');
    assert.ok((needs.tiers[0]?.shmBytes ?? 0) * 6.5 < needs.shmBytes, 'the first tier has a seventh of the envs');
  });

  it('counts a learner that keeps raw images, and refuses the machine that cannot hold them', () => {
    const raw = planNeeds(makePlan({ tiers: [4000], mix: { field: 1 }, ppo: { encoder: 'cnn', horizon: 128 } }), [entry('field', PIXELS)]);
    assert.ok(raw.memory.learner > 4000 * 129 * 150_528);
    assert.ok(raw.memory.learner > 70 * 1024 * MIB);
    const rows = evaluatePreflight(raw, { ...ROOMY, memoryBytes: 25 * 1024 * MIB });
    assert.deepEqual(
      rows.filter(({ ok }) => !ok).map(({ check }) => check),
      ['memory'],
    );
  });

  for (const encoder of ['auto', 'pool', 'mlp', 'cnn'] as const) {
    it(`counts what a rollout allocates: ${encoder}`, () => {
      const { planes } = planObservation(PIXELS.observation, encoder);
      const rollout = createRollout(5, planes, 2);
      rollout.addRows(3, 0);
      const arrays = Object.values(rollout).filter((value) => ArrayBuffer.isView(value));
      const chunks = planes.map((_, plane) => rollout.chunk(plane, 0));
      // The number of the chunk, two bytes a row, is the rollout's own.
      const allocated = [...arrays, ...chunks].reduce((sum, { byteLength }) => sum + byteLength, 3 * 2);
      assert.equal(rolloutBytes(3, 5, planes, 2), allocated);
    });
  }

  it('counts the parameters that the networks have, and their checkpoints', () => {
    const box: ActionSpace = { type: 'box', shape: [3], low: -1, high: 1 };
    const rgb: Spaces['observation'] = { rgb: { dtype: 'u8', shape: [42, 56, 3], low: 0, high: 255 }, ...VECTOR.observation };
    for (const [encoder, action] of [
      ['cnn', { type: 'discrete', n: 5 }],
      ['pool', box],
      ['mlp', { type: 'multi-discrete', nvec: [2, 3] }],
    ] as const satisfies readonly (readonly [string, ActionSpace])[]) {
      const { planes } = planObservation(rgb, encoder);
      const { outputs, freeParameters } = headFor(action);
      const made = initialParameters({ planes, hidden: [7, 9], activation: 'tanh', outputs, freeParameters }, createShuffler(1));
      assert.equal(
        parameterCount({ planes }, action, [7, 9]),
        made.reduce((sum, { data }) => sum + data.length, 0),
        encoder,
      );
    }
    const [narrow, wide] = [[64], [8192, 8192]].map((hidden) => planNeeds(makePlan({ ppo: { hidden } }), [entry('cartpole')]));
    assert.ok((wide?.memory.learner ?? 0) - (narrow?.memory.learner ?? 0) > 2 * 8192 ** 2 * 16);
    assert.ok((wide?.diskBytes ?? 0) - (narrow?.diskBytes ?? 0) > 2 * 8192 ** 2 * 12 * 4);
  });

  it('refuses an encoder that does not fit a kind, with and without a learner, and names the entry', () => {
    for (const learner of ['ppo', 'random'])
      assert.throws(
        () => planNeeds(makePlan({ learner, ppo: { encoder: 'cnn' } }), [entry('cartpole')]),
        (error) => error instanceof EnvladderError && error.code === 'bad-plan' && /^mix\.cartpole: ppo\.encoder 'cnn'/.test(error.message),
      );
  });

  it('asks for more where a plan has more', () => {
    const more = planNeeds(makePlan({ tiers: [100_000], mix: { cartpole: 1 }, workers: 64 }), [entry('cartpole')]);
    assert.equal(more.processes, 66);
    assert.ok(more.fds > 256 + 66 * 16);
    assert.ok(more.memoryBytes > more.shmBytes + 64 * 90 * MIB);
    assert.ok(
      planNeeds(makePlan({ learner: 'none' }), [entry('cartpole')]).memory.learner <
        planNeeds(makePlan(), [entry('cartpole')]).memory.learner,
    );
  });

  it('counts processes, threads and descriptors by seats: packs of isolated envs, threads in shared hosts, dormant groups', () => {
    const seated = (isolation: Isolation, fields: Record<string, unknown>) =>
      planNeeds(makePlan({ tiers: [960], workers: 4, ...fields }), [{ ...entry('cartpole'), isolation }]);
    const inline = seated('inline', {});
    const packed = seated('process', { mix: { cartpole: { share: 1, pack: 10 } } });
    assert.deepEqual([packed.workers, packed.packs, packed.processes], [0, 96, 98]);
    assert.ok(packed.memoryBytes - inline.memoryBytes >= 92 * 90 * MIB);
    assert.ok(packed.fds >= 256 + 98 * 16 + 96);
    const threads = seated('thread', { mix: { cartpole: { share: 1, pack: 10 } } });
    assert.deepEqual([threads.threadSeats, threads.processes], [96, 8]);
    assert.ok(threads.threads > 8 * 16 + 96 && threads.memoryBytes < packed.memoryBytes);
    const frozen = seated('inline', { groups: { start: 'groups', size: 70, wakeSteps: 1, dormant: 'frozen' } });
    assert.deepEqual([frozen.groups, frozen.packs, frozen.processes], [14, 14, 16]);
    assert.deepEqual([inline.groups, inline.packs, inline.processes], [0, 0, 6]);
  });

  it('asks for cgroup controllers only where groups are throttled, and says what to do without them', () => {
    const throttled = planNeeds(makePlan({ groups: { start: 'groups', size: 4, wakeSteps: 1, dormant: 'throttled' } }), [
      entry('cartpole'),
    ]);
    const rows = (probes: Partial<MachineProbes>, of = throttled) => evaluatePreflight(of, { ...ROOMY, ...probes });
    assert.ok(rows({}).every((row) => row.ok));
    const refused = rows({ controllers: ['hugetlb'] }).find((row) => !row.ok);
    assert.equal(refused?.check, 'cgroup controllers');
    assert.match(`${refused.needed} ${refused.found} ${refused.advice}`, /cpu and memory of cgroup v2.*hugetlb.*frozen or not-started/);
    assert.match(
      rows({ controllers: null, controllersProblem: 'there is no cgroup v2' }).find((row) => !row.ok)?.found ?? '',
      /no cgroup v2/,
    );
    assert.ok(rows({ controllers: [] }, needs).every((row) => row.ok));
  });
});

describe('limits of the machine', () => {
  it('reads soft limits', () => {
    const limits =
      'Limit                     Soft Limit           Hard Limit           Units     \nMax open files            256                  20000                files     \nMax file size             unlimited            unlimited            bytes     \n';
    assert.equal(softLimit(limits, 'Max open files'), 256);
    assert.equal(softLimit(limits, 'Max file size'), Number.POSITIVE_INFINITY);
    assert.equal(softLimit(undefined, 'Max open files'), null);
  });

  it('takes the tightest cgroup of the hierarchy, version 2, reclaimable pages counted as room', () => {
    const files: Record<string, string> = {
      '/proc/self/cgroup': '0::/a/b\n',
      '/proc/self/mountinfo': '29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n',
      '/sys/fs/cgroup/a/memory.max': '1000000\n',
      '/sys/fs/cgroup/a/memory.current': '400000\n',
      '/sys/fs/cgroup/a/memory.stat': 'anon 1\ninactive_file 100000\n',
      '/sys/fs/cgroup/a/b/memory.max': 'max\n',
      '/sys/fs/cgroup/a/b/pids.max': '50\n',
      '/sys/fs/cgroup/a/b/pids.current': '8\n',
    };
    assert.deepEqual(
      cgroupRoom((path) => files[path]),
      { memoryBytes: 700_000, tasks: 42 },
    );
  });

  it('reads version 1, also from inside a container whose group is the mount itself', () => {
    const files: Record<string, string> = {
      '/proc/self/cgroup': '4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n',
      '/proc/self/mountinfo':
        '30 23 0:27 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n31 23 0:28 /docker/x /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '67108864\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '20000000\n',
      '/sys/fs/cgroup/memory/memory.stat': 'total_inactive_file 5000000\n',
    };
    assert.equal(cgroupRoom((path) => files[path]).memoryBytes, 67_108_864 - 15_000_000);
  });

  it('finds no limit where there is none', () => {
    const none = { memoryBytes: Number.POSITIVE_INFINITY, tasks: Number.POSITIVE_INFINITY };
    assert.deepEqual(
      cgroupRoom(() => undefined),
      none,
    );
    const files: Record<string, string> = {
      '/proc/self/cgroup': '4:memory:/\n',
      '/proc/self/mountinfo': '30 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': '5\n',
    };
    assert.deepEqual(
      cgroupRoom((path) => files[path]),
      none,
    );
  });
});
