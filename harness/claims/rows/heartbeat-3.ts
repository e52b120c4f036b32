// "Three heartbeats found 17 failures in six days": real crews with real failures (killed, stopped, stuck in a step), then a Redis that goes away,
// then a pause of all workers at once. Decided by heartbeats in Redis as the account told, and by the kernel and progress in shared memory.
import { redisProblem } from '../../chaos/redis-rig-server.js';
import { until } from '../../chaos/until.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { claimRedis } from '../rigs/claim-redis.js';
import { type HeartbeatCrew, type HeartbeatTimes, raiseHeartbeatCrew, type Watcher, WORKERS } from '../rigs/heartbeat-crew.js';

const FAILURES = ['killed', 'stopped', 'stuck'] as const;
type Failure = (typeof FAILURES)[number];

interface Sizes {
  /** The account's times are divided by this. */
  readonly scale: number;
  readonly times: HeartbeatTimes;
  readonly outageMs: number;
  readonly pauseMs: number;
}

const STEADY_MS = 120_000;

function sizesOf(scale: number, frozenS: number, deadlineS: number): Sizes {
  const limitS = 90 / scale;
  const scanS = 30 / scale;
  return {
    scale,
    times: { beatS: 10 / scale, scanS, limitS, frozenS, deadlineS },
    outageMs: 2 * limitS * 1000,
    pauseMs: (limitS + 2 * scanS) * 1000,
  };
}

/** Twice the longest time that the heartbeat could need. */
const searchMs = ({ times }: Sizes): number => 2 * (times.limitS + 2 * times.scanS) * 1000 + 10_000;

async function steady(rig: HeartbeatCrew, after: string): Promise<void> {
  if (!(await rig.steady(STEADY_MS)))
    throw new Error(`the crew did not come back to its steady state within ${STEADY_MS / 1000} s after ${after}`);
}

/** Seconds until the failure of one worker was noticed; null: it never was. */
async function fail(rig: HeartbeatCrew, failure: Failure, worker: number, sizes: Sizes): Promise<number | null> {
  const beganMs = monotonicMs();
  const pid = rig.pid(worker);
  if (failure === 'killed') process.kill(pid, 'SIGKILL');
  else if (failure === 'stopped') process.kill(pid, 'SIGSTOP');
  else rig.trigger.pull(rig.envOf(worker), 'hang');
  await until(() => rig.noticedMs(worker, beganMs) !== undefined, searchMs(sizes));
  const noticedMs = rig.noticedMs(worker, beganMs);
  return noticedMs === undefined ? null : (noticedMs - beganMs) / 1000;
}

/** Deaths of workers that lived, from `begin` to the steady state after `end`. */
async function falseKills(rig: HeartbeatCrew, what: string, ms: number, begin: () => unknown, end: () => unknown): Promise<number> {
  const beganMs = monotonicMs();
  await begin();
  await new Promise((done) => setTimeout(done, ms));
  await end();
  await steady(rig, what);
  return rig.deathsSince(beganMs);
}

async function measure(context: ClaimContext, watcher: Watcher, sizes: Sizes): Promise<Taken> {
  const server = claimRedis({ dir: context.dir });
  await server.start();
  try {
    const { dir, seed, say } = context;
    const rig = await raiseHeartbeatCrew({ watcher, times: sizes.times, dir, redisUrl: server.url, seed, say });
    try {
      await steady(rig, 'its start');
      const taken: Record<string, number> = { missed: 0 };
      for (const [worker, failure] of FAILURES.entries()) {
        const seconds = await fail(rig, failure, worker, sizes);
        if (seconds === null) taken['missed'] = (taken['missed'] ?? 0) + 1;
        // Looked for until then: at least so long.
        taken[`detect-${failure}-s`] = seconds ?? searchMs(sizes) / 1000;
        // Nobody else ends what was missed.
        if (seconds === null) process.kill(rig.pid(worker), 'SIGKILL');
        await steady(rig, `a worker was ${failure}`);
      }
      taken['false-kills-outage'] = await falseKills(rig, 'Redis was away', sizes.outageMs, server.kill, server.start);
      const pids = Array.from({ length: WORKERS }, (_, worker) => rig.pid(worker));
      const signal = (name: NodeJS.Signals) => (): void => {
        for (const pid of pids) {
          try {
            process.kill(pid, name);
          } catch {
            // It was taken for dead meanwhile.
          }
        }
      };
      taken['false-kills-pause'] = await falseKills(rig, 'all workers were paused', sizes.pauseMs, signal('SIGSTOP'), signal('SIGCONT'));
      return taken;
    } finally {
      await rig.stop();
    }
  } finally {
    await server.remove();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const sizes = context.pick<Sizes>({ full: sizesOf(20, 1, 1.5), quick: sizesOf(45, 1, 1), tiny: sizesOf(45, 1, 1) });
  const { scale, times, outageMs, pauseMs } = sizes;
  const samples = await context.interleave({
    account: () => measure(context, 'account', sizes),
    progress: () => measure(context, 'progress', sizes),
  });
  return {
    samples,
    conditions: {
      crew: `${WORKERS} worker processes with 4 envs each and a learner; one worker is killed, one stopped, one gets stuck in a step, one after the other`,
      account: `a beat each ${times.beatS.toFixed(2)} s, a scan each ${times.scanS.toFixed(2)} s, dead after ${times.limitS.toFixed(2)} s: its 10, 30 and 90 s divided by ${scale}`,
      progress: `stopped after ${times.frozenS} s, stuck after ${times.deadlineS} s in one step; these are choices, the account's times for steps are not known`,
      outage: `Redis is killed and starts again empty after ${(outageMs / 1000).toFixed(1)} s`,
      pause: `all workers stand still for ${(pauseMs / 1000).toFixed(1)} s, as in a machine that is out of memory or was paused`,
    },
    notes: [
      `A failure that was not noticed counts with the time it was looked for, ${(searchMs(sizes) / 1000).toFixed(0)} s.`,
      `Times of the account's side are to be multiplied by ${scale}: it notices after 90 to 120 s.`,
      "Heartbeats alone decide on the account's side: it hears of a death from the kernel only after it has decided on it. How its own program waited for its children is not told.",
    ],
  };
}

export const heartbeat3: Claim = {
  id: 'heartbeat-3',
  said: { text: 'three heartbeats found all failures: 17 in six days', value: 17, unit: 'failures in six days' },
  question: 'How soon are dead, stopped and stuck workers noticed, and who is killed that lives?',
  register: () => ({
    sides: [
      {
        name: 'account',
        role: 'account',
        what: 'workers write heartbeats into Redis; who has been silent for the limit at a scan is dead',
      },
      {
        name: 'progress',
        role: 'envladder',
        what: 'the kernel tells of deaths, progress stamps in shared memory of what stands still; Redis only mirrors',
      },
    ],
    metrics: [
      { id: 'missed', name: 'failures not noticed', unit: 'of 3', better: 'lower', kind: 'count' },
      { id: 'false-kills-outage', name: 'workers killed for a Redis that was away', unit: 'kills', better: 'lower', kind: 'count' },
      { id: 'false-kills-pause', name: 'workers killed for a pause of all', unit: 'kills', better: 'lower', kind: 'count' },
      { id: 'detect-killed-s', name: 'until a killed worker is noticed', unit: 's', better: 'lower', kind: 'time' },
      { id: 'detect-stopped-s', name: 'until a stopped worker is noticed', unit: 's', better: 'lower', kind: 'time' },
      { id: 'detect-stuck-s', name: 'until a stuck step is noticed', unit: 's', better: 'lower', kind: 'time' },
    ],
    rule: 'held when the heartbeats miss no failure and kill nobody that lives, neither while Redis is away nor after a pause of all',
    rules: [
      { type: 'value', metric: 'missed', side: 'account', relation: 'at-most', bound: 0 },
      { type: 'value', metric: 'false-kills-outage', side: 'account', relation: 'at-most', bound: 0 },
      { type: 'value', metric: 'false-kills-pause', side: 'account', relation: 'at-most', bound: 0 },
    ],
    tests: 'direction',
    method:
      'Both sides raise the same crew anew for each repeat and live through the same failures, the same outage and the same pause; a redis-server of the claim is there on both.',
  }),
  needs: redisProblem,
  run,
};
