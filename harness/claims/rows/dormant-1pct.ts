// "A dormant group is held to 1 % of a core and 512 MB": built groups put to sleep by that quota and by freezing, and groups that are not there
// before they wake. How soon each has its first frame, what it uses meanwhile, and what the limit does to who touches shared memory first.
import { closeSync } from 'node:fs';
import { loadNative } from '../../../native/index.js';
import { openSeatCgroups } from '../../supervisor/cgroup.js';
import { DORMANT_CPU_SHARE, DORMANT_MEMORY_BYTES, signalGroup } from '../../supervisor/dormant-seats.js';
import { entryUrl, spawnChild } from '../../supervisor/spawn.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { openQuotaGroup, type QuotaGroup, quotaProblem } from '../rigs/quota-group.js';
import { groupOf, type Hold, raiseSleepingRig } from '../rigs/sleeping-rig.js';

/** The account's group. */
const GROUP = 70;

interface Sizes {
  readonly envs: number;
  readonly sleepMs: number;
  readonly limitBytes: number;
  /** Shared memory of one group by the account's figures: 18.2 GB for 100 groups. */
  readonly ownBytes: number;
  /** More than the limit. */
  readonly beyondBytes: number;
}

/** Freezes by cgroup v2; by SIGSTOP to the process group where there is none, as dormant groups are. */
function freezer(pid: number): { readonly hold: Hold; readonly how: string; readonly close: () => void } {
  const cgroups = openSeatCgroups({ runId: `claims-${process.pid}` });
  const group = cgroups.seat(0);
  if (group?.limits.freeze === true && group.enter(pid)) {
    const to = (on: boolean): void => {
      if (!group.freeze(on)) throw new Error(`${group.folder} cannot be ${on ? 'frozen' : 'thawed'}`);
    };
    return { hold: { sleep: () => to(true), wake: () => to(false) }, how: 'cgroup.freeze', close: cgroups.close };
  }
  cgroups.close();
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => (): void => {
    if (!signalGroup(pid, name)) throw new Error(`${name} could not be sent`);
  };
  return { hold: { sleep: signal('SIGSTOP'), wake: signal('SIGCONT') }, how: 'SIGSTOP', close: () => undefined };
}

/** A process touches shared memory that this one made: whether it lived, and how much of it its group was charged with. */
async function touchFirst(
  touchBytes: number,
  limitBytes: number | null,
): Promise<{ readonly lived: boolean; readonly chargedBytes: number }> {
  const group = openQuotaGroup();
  const fd = loadNative().createObject('envladder:claims', touchBytes);
  const child = spawnChild<number, unknown>(entryUrl('../claims/entries/touch-child'), [fd]);
  try {
    const { pid } = child;
    let heard: () => void = () => undefined;
    child.channel.onMessage(() => heard());
    const ended = child.exit.then(() => false);
    /** False: it ended instead. */
    const next = (): Promise<boolean> => Promise.race([new Promise<boolean>((done) => (heard = () => done(true))), ended]);
    if (!(await next()) || pid === null) throw new Error(`the process that touches memory did not start: ${child.outputTail()}`);
    group.enter(pid);
    // No CPU quota: it would only make it slow.
    if (limitBytes !== null) group.limit({ cpuShare: 1, memoryBytes: limitBytes });
    const beforeBytes = group.memoryBytes();
    const touched = next();
    child.channel.send(touchBytes);
    const lived = await touched;
    return { lived, chargedBytes: group.memoryBytes() - beforeBytes };
  } finally {
    child.kill('SIGKILL');
    await child.exit;
    closeSync(fd);
    group.close();
  }
}

/** What the limit does to a group that touches its own shared memory, and to one that touches more than the limit. */
async function touchShared({ ownBytes, beyondBytes, limitBytes }: Sizes, limited: boolean): Promise<Taken> {
  const limit = limited ? limitBytes : null;
  const own = await touchFirst(ownBytes, limit);
  const beyond = await touchFirst(beyondBytes, limit);
  return {
    'killed-own': own.lived ? 0 : 1,
    'killed-beyond': beyond.lived ? 0 : 1,
    'charged-share': own.chargedBytes / ownBytes,
  };
}

async function asleep(rig: Awaited<ReturnType<typeof raiseSleepingRig>>, ms: number, hold: Hold): Promise<Taken> {
  const { wakeMs, cpuAsleep, pssBytes } = await rig.sleepFor(ms, hold);
  return { 'wake-ms': wakeMs, 'cpu-percent': cpuAsleep * 100, 'kept-mb': pssBytes / 1e6 };
}

/** From nothing to the first frame: the process, its constructors, a step. */
async function startCold(envs: number): Promise<Taken> {
  const rig = await groupOf(envs);
  await rig.close();
  return { 'wake-ms': rig.firstBatchS * 1000, 'cpu-percent': 0, 'kept-mb': 0 };
}

async function run(context: ClaimContext): Promise<Measured> {
  const sizes = context.pick<Sizes>({
    full: { envs: GROUP, sleepMs: 1000, limitBytes: DORMANT_MEMORY_BYTES, ownBytes: 182e6, beyondBytes: 600e6 },
    quick: { envs: GROUP, sleepMs: 500, limitBytes: DORMANT_MEMORY_BYTES, ownBytes: 182e6, beyondBytes: 600e6 },
    tiny: { envs: 8, sleepMs: 200, limitBytes: 160 * 2 ** 20, ownBytes: 20e6, beyondBytes: 200e6 },
  });
  const quota: QuotaGroup = openQuotaGroup();
  const open: (() => void | Promise<void>)[] = [quota.close];
  try {
    const throttled = await raiseSleepingRig(sizes.envs);
    open.push(throttled.close);
    quota.enter(throttled.pid);
    const frozen = await raiseSleepingRig(sizes.envs);
    const freeze = freezer(frozen.pid);
    open.push(freeze.close, frozen.close);
    const byQuota: Hold = {
      sleep: () => quota.limit({ cpuShare: DORMANT_CPU_SHARE, memoryBytes: sizes.limitBytes }),
      wake: () => quota.limit(null),
    };
    const samples = await context.interleave({
      quota: async () => ({ ...(await asleep(throttled, sizes.sleepMs, byQuota)), ...(await touchShared(sizes, true)) }),
      frozen: async () => ({ ...(await asleep(frozen, sizes.sleepMs, freeze.hold)), ...(await touchShared(sizes, false)) }),
      'not-started': () => startCold(sizes.envs),
    });
    return {
      samples,
      conditions: {
        group: `${sizes.envs} noop envs with constructors of 1 ms in one process, asleep for ${sizes.sleepMs / 1000} s`,
        quota: `${DORMANT_CPU_SHARE * 100} % of a core, ${sizes.limitBytes / 2 ** 20} MB, cgroup version ${quota.version}`,
        frozen: freeze.how,
        'shared memory': `a process is the first to touch ${sizes.ownBytes / 1e6} MB that another one made (own), and ${sizes.beyondBytes / 1e6} MB (beyond), with the memory limit (quota) and without (frozen)`,
      },
      notes: [
        "By the account's figures a group has 182 MB of the shared 18.2 GB. Whoever touches a page first is charged with it, whoever made it: a group that touches more of the pool than its limit is killed.",
      ],
    };
  } finally {
    for (let end = open.pop(); end !== undefined; end = open.pop()) await end();
  }
}

export const dormant1pct: Claim = {
  id: 'dormant-1pct',
  said: { text: 'dormant groups are held to 1 % of a core and 512 MB until they are woken', value: 1, unit: '% of a core' },
  question: 'What does a sleeping group use, and how soon does it step when it is woken?',
  register: () => ({
    sides: [
      {
        name: 'quota',
        role: 'account',
        what: 'built, then held to a CPU quota of 1 % of a core and a memory limit of 512 MB; the limits are lifted to wake it',
      },
      { name: 'frozen', role: 'envladder', what: 'built, then frozen; thawed to wake it' },
      { name: 'not-started', role: 'envladder', what: 'not there; its process starts and builds its envs when it is woken' },
    ],
    metrics: [
      { id: 'wake-ms', name: 'from the wake to the first frame', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'cpu-percent', name: 'used while asleep', unit: '% of a core', better: 'lower', kind: 'share' },
      { id: 'kept-mb', name: 'memory kept while asleep (PSS)', unit: 'MB', better: 'lower', kind: 'count' },
      { id: 'killed-own', name: 'killed for touching its own part of the shared memory', unit: 'share', better: 'lower', kind: 'share' },
      { id: 'killed-beyond', name: 'killed for touching more of it than the limit', unit: 'share', better: 'lower', kind: 'share' },
      {
        id: 'charged-share',
        name: 'shared memory of another that the group is charged with',
        unit: 'share',
        better: 'lower',
        kind: 'share',
      },
    ],
    rule: 'held when a group under quota uses at most 1.1 % of a core, wakes within twice the time of a frozen one, and is not killed for its own part of the shared memory',
    rules: [
      { type: 'value', metric: 'cpu-percent', side: 'quota', relation: 'at-most', bound: 1.1 },
      { type: 'ratio', metric: 'wake-ms', side: 'quota', to: 'frozen', relation: 'at-most', bound: 2 },
      { type: 'value', metric: 'killed-own', side: 'quota', relation: 'at-most', bound: 0 },
    ],
    tests: 'direction',
    method:
      'The same built group sleeps for the same time on both sides that keep it; nobody answers its frames meanwhile; the clock runs from the call that wakes it to the first frame that was not there before.',
  }),
  needs: quotaProblem,
  run,
};
