// The climb: tiers in order, each handed the counts the one before ended with, until one says stop or somebody asks to.
import type { EntryMessage } from '../contract/messages.js';
import { planBlocks } from '../supervisor/block-plan.js';
import type { Crew } from '../supervisor/crew.js';
import { type ClimbContext, climbTier, type TierEnd } from './climb-tier.js';
import type { Interrupts } from './interrupts.js';

export interface ClimbOptions
  extends Pick<ClimbContext, 'plan' | 'crew' | 'journal' | 'board' | 'latest' | 'readLoad' | 'readSlices' | 'say'> {
  readonly runId: string;
  readonly entries: readonly EntryMessage[];
  readonly interrupts: Interrupts;
  /** Kept up to date while the climb goes on. */
  readonly facts: { readonly lostRanges: number; readonly firstFailure: string | null };
}

export interface Climb {
  readonly crew: Crew;
  readonly failure: string | null;
}

/** Never rejects for what envs, workers or the learner do. */
export async function climbAll({ runId, entries, interrupts, facts, ...shared }: ClimbOptions): Promise<Climb> {
  const { plan, crew } = shared;
  const { entryEnvs } = planBlocks(runId, plan, entries);
  let before: TierEnd = { counts: null, restarts: 0, lostRanges: 0 };
  let failure: string | null = null;
  void crew.failed.then((error) => {
    failure = error.message;
  });
  for (let index = 0; index < plan.tiers.length && interrupts.count() === 0; index++) {
    const climbed = await climbTier(index, {
      ...shared,
      interrupted: interrupts.first,
      before,
      entryEnvs: entryEnvs[index] ?? [],
      faultsPlanned: plan.mix.some((entry) => entry.kind === 'fault'),
      lostRanges: () => facts.lostRanges,
      firstFailure: () => facts.firstFailure,
    });
    before = climbed.end;
    if (!climbed.goOn) break;
  }
  return { crew, failure };
}
