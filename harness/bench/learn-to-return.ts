// Trains cartpole through the real processes, plan ladders/learn-cartpole.yaml, until the mean return of the last 100 training episodes
// reaches 475. The clock starts when the processes are up and the first env is started.
import type { Plan } from '../contract/plan.js';
import { readPlan } from '../ladder/read-plan.js';
import { entryMessage } from '../supervisor/entry-message.js';
import { raiseBenchCrew } from './crew-rig.js';
import type { RigPlan } from './rig-plan.js';

export const LEARNED_RETURN = 475;
/** The window that the mean is taken over; the learner reports the last 100. */
export const LEARNED_EPISODES = 100;
const POLL_MS = 50;

export interface Learned {
  readonly steps: number;
  readonly seconds: number;
}

async function learnPlan(seed: number, backend: Plan['backend']): Promise<RigPlan> {
  const { plan, kinds } = await readPlan({ plan: 'learn-cartpole', flags: { seed: String(seed), backend }, cores: 2, cwd: process.cwd() });
  const entries = plan.mix.map((entry, index) => entryMessage(plan, entry, kinds[index] ?? kindMissing(entry.name)));
  return { plan, entries };
}

function kindMissing(name: string): never {
  throw new Error(`mix entry ${name} has no kind`);
}

/** Steps and seconds of one seed; undefined when `limitMs` came first. */
export async function learnToReturn(seed: number, backend: Plan['backend'], limitMs: number): Promise<Learned | undefined> {
  const rigPlan = await learnPlan(seed, backend);
  const name = rigPlan.entries[0]?.name ?? '';
  const crew = await raiseBenchCrew(rigPlan, POLL_MS);
  try {
    const began = performance.now() - (crew.allLiveS - crew.processesS) * 1000;
    const snapshot = await crew.pollUntil(({ kinds }) => {
      const totals = kinds[name];
      return totals !== undefined && totals.episodes >= LEARNED_EPISODES && (totals.recentReturn ?? 0) >= LEARNED_RETURN;
    }, limitMs);
    return snapshot === undefined ? undefined : { steps: snapshot.taken, seconds: (performance.now() - began) / 1000 };
  } finally {
    await crew.stop();
  }
}
