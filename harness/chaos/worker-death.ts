// What most rows wait for: a worker dies of the fault, the death is told with its cause, and the worker's envs publish again under the next
// epoch. Shared by the rows that kill, freeze, hang or crash a worker.
import { monotonicMs } from '../supervisor/clock.js';
import type { ExpectedEvent, Fault } from './fault.js';
import type { Rig } from './rig.js';
import { seededRandom } from './seeded-random.js';

/** Up to `count` seats that no fault of this rig has struck yet, chosen by the row's seed. */
export function pickWorkers(rig: Rig, count: number): number[] {
  const random = seededRandom(rig.context.seed, rig.struck.size);
  const workers = [...rig.segments.keys()].filter((worker) => !rig.struck.has(worker));
  for (let i = workers.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [workers[i], workers[j]] = [workers[j] as number, workers[i] as number];
  }
  const picked = workers.slice(0, count).sort((a, b) => a - b);
  for (const worker of picked) rig.struck.add(worker);
  return picked;
}

/** First frame of any env of the seat under an epoch above `epoch`, as seen by a look now. */
export function publishesAbove(rig: Rig, worker: number, epoch: number, seqAtDeath: ReadonlyMap<number, number>): boolean {
  const words = rig.sampler.look();
  return rig.envsOf(worker).some((env) => (words.epoch[env] as number) > epoch && (words.seq[env] as number) > (seqAtDeath.get(env) ?? 0));
}

/**
 * Kills (or has killed) `workers` through `act` and describes what must follow: one death each with `cause`, told after the act, then the
 * first publish of each under a higher epoch.
 */
export function workerDeath(rig: Rig, workers: readonly number[], act: (pid: number, worker: number) => void, cause: RegExp): Fault {
  const epochs = new Map(workers.map((worker) => [worker, rig.control().progress(worker).epoch]));
  const seqAt = new Map<number, Map<number, number>>();
  const done = new Set<number>();
  const atMs = monotonicMs();
  for (const worker of workers) act(rig.pid(`worker ${worker}`), worker);
  const deaths = () => rig.eventsSince(atMs, 'worker-died').filter(({ worker }) => worker !== undefined && workers.includes(worker));
  return {
    atMs,
    touched: workers.flatMap((worker) => rig.envsOf(worker)),
    detected: () => (new Set(deaths().map(({ worker }) => worker)).size === workers.length ? (deaths().at(-1)?.ms ?? null) : null),
    recovered: () => {
      for (const worker of workers) {
        if (done.has(worker) || !deaths().some((event) => event.worker === worker)) continue;
        const words = rig.sampler.look();
        const seq = seqAt.get(worker) ?? new Map(rig.envsOf(worker).map((env) => [env, words.seq[env] as number]));
        seqAt.set(worker, seq);
        if (publishesAbove(rig, worker, epochs.get(worker) as number, seq)) done.add(worker);
      }
      return done.size === workers.length ? monotonicMs() : null;
    },
    expect: workers.map((worker): ExpectedEvent => ({ type: 'worker-died', worker, cause })),
  };
}
