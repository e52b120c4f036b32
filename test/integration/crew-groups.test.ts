// Goal: envs start in turn or behind walls of their own without a difference in what they live through, and a sleeping group is left in peace.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import type { PlanInput } from '../../harness/contract/plan.js';
import { openSeatCgroups, type SeatCgroups } from '../../harness/supervisor/cgroup.js';
import { raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';

const WATCHDOG = { timeout: 90_000 };
const FRAMES = 100;
const NO_CGROUPS: SeatCgroups = { seat: () => null, degraded: null, folder: null, close: () => undefined };

/** Hash of the first FRAMES frames of every env, by env id. */
async function trajectories(fields: Partial<PlanInput>): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'envladder-trace-'));
  const file = join(folder, 'trace.json');
  process.env.ENVLADDER_TEST_TRACE = file;
  process.env.ENVLADDER_TEST_FRAMES = String(FRAMES);
  try {
    const test = await raiseTestCrew({ tiers: [40], workers: 2, ...fields });
    await until(() => existsSync(file));
    await test.crew.stop(5000);
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } finally {
    delete process.env.ENVLADDER_TEST_TRACE;
    delete process.env.ENVLADDER_TEST_FRAMES;
    rmSync(folder, { recursive: true, force: true });
  }
}

afterEach(stopAllCrews);

it('an env lives through the same in a worker, a pack, a thread, and a group of any kind', WATCHDOG, async () => {
  const inline = { cartpole: 0.6, probe: 0.4 };
  const walled = (isolation: 'process' | 'thread'): PlanInput['mix'] => ({ cartpole: 0.6, probe: { share: 0.4, isolation, pack: 6 } });
  const expected = await trajectories({ mix: inline });
  assert.equal(Object.keys(expected).length, 40);
  assert.deepEqual(await trajectories({ mix: walled('process') }), expected);
  assert.deepEqual(await trajectories({ mix: walled('thread') }), expected);
  const groups = { start: 'groups', size: 7, wakeSteps: 20 } as const;
  assert.deepEqual(await trajectories({ mix: inline, groups }), expected);
  assert.deepEqual(await trajectories({ mix: walled('thread'), groups: { ...groups, size: 13, dormant: 'frozen' } }), expected);
});

describe('groups of a crew', WATCHDOG, () => {
  it('wake in the order of their ids, each after the frames of the one before, and all are live at the end', WATCHDOG, async () => {
    const test = await raiseTestCrew(
      { tiers: [30], mix: { cartpole: 1 }, workers: 2, groups: { start: 'groups', size: 5, wakeSteps: 50 } },
      { grow: false },
    );
    const start = await test.crew.growTo(0);
    assert.ok((start.timeToFirstBatchS ?? 1e9) <= (start.timeToAllLiveS ?? -1));
    assert.equal(test.crew.scan().live, 30);
    const woken = test.events.filter(({ type }) => type === 'group-woken').map(({ detail }) => detail ?? {});
    assert.deepEqual(
      woken.map(({ firstEnvId }) => firstEnvId),
      [0, 5, 10, 15, 20, 25],
    );
    assert.ok(woken.every(({ afterS, latencyMs }) => Number(afterS) >= 0 && Number(latencyMs) >= 0));
    const frames = test.crew.envFrames();
    assert.ok(frames.slice(0, 25).every((each) => each >= 50));
  });

  for (const [how, cgroups] of [
    ['cgroup.freeze', undefined],
    ['SIGSTOP', NO_CGROUPS],
  ] as const) {
    const probe = openSeatCgroups({ runId: `probe-${process.pid}` });
    const usable = probe.seat(0)?.limits.freeze === true;
    probe.close();
    const skip = cgroups === undefined && !usable ? (probe.degraded ?? 'no cgroup.freeze') : undefined;

    it(`frozen by ${how} stand still at their first frame, are not judged, and go on when they wake`, { ...WATCHDOG, skip }, async () => {
      const test = await raiseTestCrew(
        {
          tiers: [12],
          mix: { cartpole: 1 },
          health: { frozenSeconds: 1, blockedSeconds: 1, backoff: { baseSeconds: 0.01 } },
          groups: { start: 'groups', size: 6, wakeSeconds: 3, dormant: 'frozen' },
        },
        { grow: false, ...(cgroups === undefined ? {} : { seams: { cgroups } }) },
      );
      const grown = test.crew.growTo(0);
      const frames = (): number[] => [...test.crew.envFrames()];
      await until(() =>
        frames()
          .slice(6)
          .every((each) => each === 1),
      );
      await until(() => isStill(test.workerPid(1)));
      await grown;
      await until(() => frames().every((each) => each > 100));
      const woken = test.events.filter(({ type }) => type === 'group-woken');
      assert.ok(Number(woken[1]?.detail?.afterS) >= 3);
      assert.ok(
        woken.every(({ detail }) => detail?.latencyMs !== null),
        'the start ends when the last group has moved',
      );
      assert.deepEqual([test.crew.restarts, test.deaths.length, test.crew.scan().quarantined], [0, 0, 0]);
      assert.equal(test.events.filter(({ type }) => type === 'worker-suspect').length, 0);
    });
  }

  it('that sleep hear a stop in time', WATCHDOG, async () => {
    const test = await raiseTestCrew(
      { tiers: [12], mix: { cartpole: 1 }, groups: { start: 'groups', size: 6, wakeSeconds: 1000, dormant: 'frozen' } },
      { grow: false },
    );
    const grown = test.crew.growTo(0);
    await until(() => [...test.crew.envFrames()].slice(6).every((each) => each === 1));
    const end = await test.crew.stop(5000);
    assert.deepEqual([end.killed, test.deaths], [[], []]);
    assert.equal((await grown).timeToAllLiveS, null);
  });

  it('whose process is killed in its sleep boot a new one, which sleeps on', WATCHDOG, async () => {
    const test = await raiseTestCrew(
      { tiers: [12], mix: { cartpole: 1 }, groups: { start: 'groups', size: 6, wakeSeconds: 1000, dormant: 'frozen' } },
      { grow: false },
    );
    const grown = test.crew.growTo(0);
    await until(() => isStill(test.workerPid(1)));
    process.kill(test.workerPid(1), 'SIGKILL');
    await until(() => test.event('worker-restarted') !== undefined);
    await until(() => isStill(test.workerPid(1)));
    const end = await test.crew.stop(5000);
    await grown;
    assert.deepEqual([test.deaths.length, test.crew.restarts, end.killed], [1, 1, []]);
  });
});

/** Frozen by its cgroup, or stopped. */
function isStill(pid: number): boolean {
  return /frozen 1/.test(readEvents(pid)) || /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** cgroup.events of the cgroup v2 group that a process is in. */
function readEvents(pid: number): string {
  const path = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? '';
  const mount = /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1] ?? '/sys/fs/cgroup';
  // The root has none.
  const file = join(mount, path, 'cgroup.events');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
