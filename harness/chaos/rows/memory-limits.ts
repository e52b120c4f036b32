// Rows 13 and 14: a worker beyond its memory.max, and pressure from a neighbour. Both need the memory controller of cgroup v2; what the other
// rows ask about a seat's cgroup is here too.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cgroupFolderOf, findCgroupPlace } from '../../supervisor/cgroup-place.js';
import { monotonicMs } from '../../supervisor/clock.js';
import type { Skipped } from '../chaos-row.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import type { Fault } from '../fault.js';
import { startMemoryHog } from '../memory-hog.js';
import type { Rig } from '../rig.js';
import { triggerOf, triggerRig } from '../trigger-rig.js';
import { until, watchFor } from '../until.js';
import { pickWorkers, workerDeath } from '../worker-death.js';
import { rssBytes } from './learner-faults.js';

/** Why seats cannot be limited here; null = they can. */
export function controllerProblem(controller: 'memory' | 'cpu'): string | null {
  const place = findCgroupPlace();
  if ('problem' in place) return place.problem;
  return place.controllers.includes(controller) ? null : `no cgroup v2 ${controller} controller in ${place.folder}`;
}

/** The cgroup that the supervisor made for a worker. */
export function cgroupOf(rig: Rig, worker: number): string {
  const found = cgroupFolderOf(rig.pid(`worker ${worker}`));
  if (found === null) throw new Error(`worker ${worker} is in no cgroup v2`);
  return found.folder;
}

export const hardOom: CrewChaosRow = crewRow({
  row: 13,
  fault: 'a worker beyond its memory.max',
  outcome: 'only that worker dies, its cause is oom',
  recoverLimitMs: 10_000,
  needs: () => controllerProblem('memory'),
  rig: triggerRig(),
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const worker = workers[0] as number;
    const [env = 0] = rig.envsOf(worker);
    const folder = cgroupOf(rig, worker);
    const leak = setInterval(() => triggerOf(rig).pull(env, 'leak'), 20);
    const fault = workerDeath(
      rig,
      workers,
      (pid) => writeFileSync(join(folder, 'memory.max'), String(rssBytes(pid) + 50 * 2 ** 20)),
      /oom/,
    );
    return {
      ...fault,
      detected: () => {
        const seen = fault.detected?.() ?? null;
        if (seen !== null) clearInterval(leak);
        return seen;
      },
      undo: () => {
        clearInterval(leak);
        return [];
      },
    };
  },
});

/** How long the neighbour holds what it took. */
const PRESSURE_MS = 5000;
/** Less than this was no pressure. */
const LEAST_HELD_BYTES = 256 * 2 ** 20;

async function sufferNeighbour(rig: Rig, parent: string): Promise<Fault | Skipped> {
  if (!readFileSync(join(parent, 'cgroup.subtree_control'), 'utf8').includes('memory'))
    return { skipped: `${parent} hands no memory controller down` };
  const atMs = monotonicMs();
  const hog = startMemoryHog(parent);
  let held = 0;
  try {
    await until(
      () => {
        held = Math.max(held, hog.held());
        return monotonicMs() - atMs > PRESSURE_MS * rig.context.patience;
      },
      2 * PRESSURE_MS * rig.context.patience,
    );
  } finally {
    await hog.end();
  }
  const seq = rig.sampler.look().seq.slice();
  return {
    atMs,
    touched: Array.from({ length: rig.plan.tiers[0]?.envs ?? 0 }, (_, env) => env),
    recovered: () => (rig.sampler.look().seq.every((now, env) => now > (seq[env] as number)) ? monotonicMs() : null),
    undo: () => (held < LEAST_HELD_BYTES ? [`the neighbour got only ${held} bytes: no pressure`] : []),
  };
}

export const hostPressure: CrewChaosRow = crewRow({
  row: 14,
  fault: 'memory pressure from a group beside',
  outcome: 'learner and supervisor survive, nothing is killed for it',
  recoverLimitMs: 60_000,
  needs: () => controllerProblem('memory'),
  async inject(rig) {
    const folder = cgroupOf(rig, 0);
    // Beside the run's own folder: this process was moved into that one when the crew was raised.
    if (rig.context.ownMachine === true) return sufferNeighbour(rig, dirname(dirname(folder)));
    const atMs = monotonicMs();
    // The worker's own group is squeezed to what it holds: reclaim, stalls, no kill.
    writeFileSync(join(folder, 'memory.high'), String(Math.floor(rssBytes(rig.pid('worker 0')) * 0.8)));
    await watchFor(5000);
    writeFileSync(join(folder, 'memory.high'), 'max');
    const seq = rig.sampler.look().seq.slice();
    return {
      atMs,
      touched: rig.envsOf(0),
      recovered: () => (rig.sampler.look().seq.every((now, env) => now > (seq[env] as number)) ? monotonicMs() : null),
    };
  },
});
