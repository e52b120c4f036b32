// Rows 2, 5 and 9: a worker killed in the middle of a frame, a writer that comes back from the dead, and a worker whose event loop is gone
// while its native thread still beats.
import { monotonicMs } from '../../supervisor/clock.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { isRunning } from '../leftovers.js';
import { triggerOf, triggerRig } from '../trigger-rig.js';
import { watchFor } from '../until.js';
import { pickWorkers, workerDeath } from '../worker-death.js';

export const killedMidFrame: CrewChaosRow = crewRow({
  row: 2,
  fault: 'worker killed in the middle of a frame',
  outcome: 'the last complete frame is still readable, the half one is never seen',
  recoverLimitMs: 5000,
  pairable: true,
  rig: triggerRig(),
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const worker = workers[0] as number;
    const [env = 0] = rig.envsOf(worker);
    triggerOf(rig).pull(env, 'half');
    const inWork = (): boolean => {
      const { envId, op } = rig.control().progress(worker);
      return envId === env && op === 'step' && rig.sampler.look().owed[env] === 1;
    };
    if (!(await rig.wait(5000, inWork))) throw new Error(`env ${env} was not caught in the middle of a frame`);
    await watchFor(100);
    const segment = rig.segments.get(worker);
    const block = segment?.spec.blocks.find(({ firstEnvId, slots }) => env >= firstEnvId && env < firstEnvId + slots);
    if (segment === undefined || block === undefined) throw new Error(`env ${env} has no block`);
    const fault = workerDeath(rig, workers, (pid) => process.kill(pid, 'SIGKILL'), /SIGKILL/);
    const seen = segment.peek(block.id, env - block.firstEnvId, 'vector');
    const whole = seen !== undefined && [...seen.data].every((value, i) => value === (seen.data[0] as number) + i);
    return {
      ...fault,
      undo: () => (whole ? [] : [`the last complete frame of env ${env} is not readable: ${seen?.data.join(', ') ?? 'torn'}`]),
    };
  },
});

/** What SIGKILL cannot reach: the rig's supervisor believes to have sent it. */
const withheld = new Set<number>();

export const zombieWriter: CrewChaosRow = crewRow({
  row: 5,
  fault: 'zombie writer: SIGKILL withheld, then SIGCONT',
  outcome: 'its range goes on in other memory; woken, it is fenced and exits; nothing torn',
  recoverLimitMs: 15_000,
  rig: {
    seams: {
      confirmMs: 500,
      // A cgroup would kill it all the same.
      cgroups: { degraded: null, folder: null, seat: () => null, close: () => undefined },
      wrapWorker: (child) =>
        Object.create(child, {
          kill: {
            value: (signal: NodeJS.Signals) => {
              if (child.pid === null || !withheld.has(child.pid)) child.kill(signal);
            },
          },
        }) as typeof child,
    },
  },
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const pid = rig.pid(`worker ${workers[0]}`);
    withheld.add(pid);
    const fault = workerDeath(rig, workers, () => process.kill(pid, 'SIGSTOP'), /frozen/);
    return {
      ...fault,
      undo: async () => {
        const problems: string[] = [];
        if (!isRunning(pid)) problems.push('the zombie was killed: the row shows nothing');
        const replaced = rig.allSegments.filter(({ spec }) => spec.worker === workers[0]).length;
        if (replaced !== 2) problems.push(`the seat had ${replaced} segments, not its old one and a fresh one`);
        const beganMs = monotonicMs();
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          problems.push('the zombie is gone');
        }
        if (!(await rig.wait(3000, () => !isRunning(pid))))
          problems.push(`the zombie lives on ${Math.round(monotonicMs() - beganMs)} ms after SIGCONT`);
        withheld.delete(pid);
        if (isRunning(pid)) process.kill(pid, 'SIGKILL');
        await watchFor(300);
        return problems;
      },
    };
  },
});

export const loopBlocked: CrewChaosRow = crewRow({
  row: 9,
  fault: "endless loop in a worker's event loop",
  outcome: 'found by the loop stamp while the native stamp is fresh; replaced',
  recoverLimitMs: 15_000,
  pairable: true,
  rig: triggerRig(),
  async inject(rig) {
    const workers = pickWorkers(rig, 1);
    const [env = 0] = rig.envsOf(workers[0] as number);
    return workerDeath(rig, workers, () => triggerOf(rig).pull(env, 'block-loop'), /blocked/);
  },
});
