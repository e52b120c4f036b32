// "An hourly cleaner with ipcs and ipcrm keeps shared segments under 15": processes that hold shared memory are killed, then each cleaner runs
// once, and what the dead still hold is counted. All of it in an IPC namespace of the claim's own, where a cleaner can hit nobody else.
import { once } from 'node:events';
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startTicksOf } from '../../store/process-identity.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import type { LeakOrder } from '../entries/leak-child.js';
import { type IpcWorld, ipcWorldProblem, openIpcWorld } from '../rigs/ipc-world.js';

/** The account's figure: "under 15". */
const BOUND = 14;

/** Starts a process that takes memory in `world` and resolves when it holds it. */
async function hold(world: IpcWorld, order: LeakOrder) {
  const child = world.fork('../claims/entries/leak-child');
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the process that takes memory ended with ${code}`)));
  child.send(order);
  await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
  return {
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** The cron job: every System V segment that nobody is attached to. Returns how many it found to remove. */
async function runIpcsCleaner(world: IpcWorld): Promise<number> {
  const idle = idleSegments(await world.command('ipcs', '-m'));
  for (const shmid of idle) await world.command('ipcrm', '-m', shmid);
  return idle.length;
}

/** Ids of the segments without attachments in the output of `ipcs -m`: key shmid owner perms bytes nattch. Pure. */
export function idleSegments(ipcs: string): string[] {
  return ipcs
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([key = '', shmid = '', , , , nattch]) => (/^0x/.test(key) && /^\d+$/.test(shmid) && nattch === '0' ? [shmid] : []));
}

/** Removes what was named by a process that is proven dead: no such pid, or one that started at another time. */
function removeOfTheDead(shm: string): void {
  for (const name of readdirSync(shm)) {
    const [, pid, ticks] = /^envladder-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
    if (pid !== undefined && startTicksOf(Number(pid)) !== Number(ticks)) rmSync(join(shm, name));
  }
}

/** Descriptors anywhere on this machine that hold a memfd with this tag. */
function memfdsOf(tag: string): number {
  let found = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) if (readlinkSync(`/proc/${pid}/fd/${fd}`).includes(tag)) found++;
    } catch {
      // Gone meanwhile, or not ours to see.
    }
  }
  return found;
}

interface Sizes {
  readonly lives: number;
  readonly segments: number;
  readonly bytes: number;
}

let tags = 0;

/** One repeat: one process that goes on, `lives` that are killed, one cleaning. */
async function leakAndClean({ lives, segments, bytes }: Sizes, side: 'ipcs-cron' | 'proven-dead' | 'memfd'): Promise<Taken> {
  const world = await openIpcWorld();
  const tag = `leak-${process.pid}-${tags++}`;
  const order: LeakOrder = { kind: side === 'memfd' ? 'memfd' : 'named', segments, bytes, tag };
  let alive: Awaited<ReturnType<typeof hold>> | null = null;
  try {
    alive = await hold(world, order);
    for (let life = 0; life < lives; life++) {
      await (await hold(world, order)).kill();
      if (side === 'ipcs-cron') await world.command('ipcmk', '-M', String(bytes));
    }
    const removed = side === 'ipcs-cron' ? await runIpcsCleaner(world) : 0;
    if (side === 'proven-dead') removeOfTheDead(world.shm);
    const names = readdirSync(world.shm);
    const there = side === 'memfd' ? memfdsOf(tag) : names.length;
    // The one that lives holds `segments` rightly; fewer than that were taken from it.
    const left = Math.max(0, there - segments);
    const leftBytes =
      side === 'memfd'
        ? left * bytes
        : names.reduce((sum, name) => sum + statSync(join(world.shm, name)).blocks * 512, 0) - segments * bytes;
    return {
      left,
      'left-mb': Math.max(0, leftBytes) / 1e6,
      'live-lost': Math.max(0, segments - there),
      ...(side === 'ipcs-cron' ? { 'sysv-left': lives - removed } : {}),
    };
  } finally {
    await alive?.kill();
    await world.close();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const sizes = context.pick<Sizes>({
    full: { lives: 10, segments: 4, bytes: 4 << 20 },
    quick: { lives: 5, segments: 4, bytes: 4 << 20 },
    tiny: { lives: 2, segments: 8, bytes: 64 << 10 },
  });
  const take = (side: Parameters<typeof leakAndClean>[1]) => () => leakAndClean(sizes, side);
  const samples = await context.interleave({
    'ipcs-cron': take('ipcs-cron'),
    'proven-dead': take('proven-dead'),
    memfd: take('memfd'),
  });
  return {
    samples,
    conditions: {
      leaked: `${sizes.lives} processes with ${sizes.segments} segments of ${sizes.bytes / 1024} KiB each, killed by SIGKILL, then one run of the cleaner; one more process lives on with its ${sizes.segments}`,
      'System V': `in front of the cleaner with ipcs also lies one unattached System V segment for each killed process`,
    },
  };
}

export const ipcsCron: Claim = {
  id: 'ipcs-cron',
  said: { text: 'an hourly job with ipcs and ipcrm clears leaked shared memory: never 15 segments', value: 15, unit: 'segments' },
  question: 'How many shared segments of killed processes are left after the cleaner ran?',
  register: () => ({
    sides: [
      {
        name: 'ipcs-cron',
        role: 'account',
        what: 'POSIX shared memory, as a Python stack makes it; the cleaner lists by ipcs -m and removes what has no attachment by ipcrm',
      },
      { name: 'memfd', role: 'envladder', what: 'memory without a name, handed on as descriptors: nobody cleans' },
      {
        name: 'proven-dead',
        role: 'reference',
        what: 'POSIX shared memory with pid and start time of its maker in the name; a janitor removes what belongs to the proven dead',
      },
    ],
    metrics: [
      { id: 'left', name: 'segments of the dead left', unit: 'segments', better: 'lower', kind: 'count' },
      { id: 'left-mb', name: 'memory they hold', unit: 'MB', better: 'lower', kind: 'count' },
      { id: 'sysv-left', name: 'System V segments left', unit: 'segments', better: 'lower', kind: 'count' },
      { id: 'live-lost', name: 'segments taken from the living', unit: 'segments', better: 'lower', kind: 'count' },
    ],
    rule: `held when at most ${BOUND} segments of killed processes are left after the cleaner with ipcs ran`,
    rules: [{ type: 'value', metric: 'left', side: 'ipcs-cron', relation: 'at-most', bound: BOUND }],
    tests: 'figure',
    method:
      'Every side leaks the same number of segments of the same size by the same SIGKILL, in an IPC namespace with a /dev/shm of its own; then its cleaner runs once and what the dead hold is counted.',
  }),
  needs: ipcWorldProblem,
  run,
};
