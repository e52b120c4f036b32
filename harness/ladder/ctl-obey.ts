// What a run's control socket and command stream call: the crew obeys, and a status says how the climb stands besides. Each command is
// obeyed once, whichever way it comes.
import { type Obey, obeyOnce } from '../bus/obey-once.js';
import type { CtlStatus } from '../contract/ctl-status.js';
import type { Crew } from '../supervisor/crew.js';
import type { LadderStatus } from './ladder-status.js';

export interface CtlSources {
  readonly runId: string;
  readonly plan: string;
  /** Null before it stands. */
  readonly crew: () => Pick<Crew, 'obey'> | null;
  readonly status: () => LadderStatus;
}

export function obeyFor({ runId, plan, crew, status }: CtlSources): Obey {
  return obeyOnce(async (command) => {
    const one = crew();
    if (one === null) return { id: command.id, ok: false, message: 'the run is still starting: ask again in a moment' };
    const answer = await one.obey(command);
    if (command.command !== 'status' || !answer.ok) return answer;
    return { ...answer, detail: { ...answer.detail, run: runPart(runId, plan, status()) } };
  });
}

function runPart(runId: string, plan: string, now: LadderStatus): CtlStatus['run'] {
  const { phase, tier, tiers, label, envs, live, quarantined, runSeconds, samplingSps, trainingSps, restarts } = now;
  return { runId, plan, phase, tier, tiers, label, envs, live, quarantined, runSeconds, samplingSps, trainingSps, restarts };
}
