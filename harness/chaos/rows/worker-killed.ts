// Rows 1, 8 and 11: workers that die at once, one alone, by a crash of native code, or half of them together.
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import { triggerRig } from '../trigger-rig.js';
import { pickWorkers, workerDeath } from '../worker-death.js';

export const workerKilled: CrewChaosRow = crewRow({
  row: 1,
  fault: 'worker killed',
  outcome: 'its range is restarted, the other workers step on',
  recoverLimitMs: 5000,
  pairable: true,
  // Constructors that take their time: recovery is the process up and the first valid frame of an env that took 100 ms to build.
  rig: triggerRig({}, { constructMs: 100 }),
  inject: async (rig) => workerDeath(rig, pickWorkers(rig, 1), (pid) => process.kill(pid, 'SIGKILL'), /SIGKILL/),
});

export const nativeCrash: CrewChaosRow = crewRow({
  row: 8,
  fault: 'native crash (SIGSEGV, SIGABRT)',
  outcome: 'as row 1, the signal stands in the event',
  recoverLimitMs: 5000,
  pairable: true,
  inject: async (rig) => {
    const signal = rig.context.seed % 2 === 0 ? 'SIGSEGV' : 'SIGABRT';
    return workerDeath(rig, pickWorkers(rig, 1), (pid) => process.kill(pid, signal), new RegExp(signal));
  },
});

export const massDeath: CrewChaosRow = crewRow({
  row: 11,
  fault: 'half of the workers killed at once',
  outcome: 'all come back, one after the other, within the budgets',
  recoverLimitMs: 60_000,
  inject: async (rig) => {
    const workers = pickWorkers(rig, Math.ceil(rig.segments.size / 2));
    return workerDeath(rig, workers, (pid) => process.kill(pid, 'SIGKILL'), /SIGKILL/);
  },
});
