// One fault of a soak: chosen at random among those that are possible now, told, and done to the ladder's processes or its Redis.
import { watchFor } from '../until.js';
import type { LadderWatch } from './ladder-watch.js';
import type { OwnRedis } from './redis-server.js';
import { chooseStrike, PAUSE_MS, REDIS_OUTAGE_MS } from './soak-faults.js';
import { MOST_KEPT, type SoakState } from './soak-state.js';

/** Signals a process that may just have gone. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone: nothing to strike.
  }
}

/** Resolves when the fault is over; a process that is killed stays so. */
export async function strike(
  state: SoakState,
  watch: Pick<LadderWatch, 'seats'>,
  redis: OwnRedis | null,
  random: () => number,
  atS: number,
  say: (line: string) => void,
): Promise<void> {
  const chosen = chooseStrike(watch.seats(), redis !== null, random, atS);
  if (chosen === null) return;
  state.strikes.push(chosen);
  if (state.strikes.length > MOST_KEPT) state.strikes.shift();
  say(`${Math.round(atS)} s: ${chosen.fault}${chosen.worker === null ? '' : ` of worker ${chosen.worker}`}`);
  switch (chosen.fault) {
    case 'kill':
      for (const pid of chosen.pids) signal(pid, 'SIGKILL');
      return;
    case 'pause-one':
    case 'pause-all':
      for (const pid of chosen.pids) signal(pid, 'SIGSTOP');
      await watchFor(PAUSE_MS);
      for (const pid of chosen.pids) signal(pid, 'SIGCONT');
      return;
    case 'redis-outage':
      await redis?.kill();
      await watchFor(REDIS_OUTAGE_MS);
      await redis?.start();
      return;
  }
}
