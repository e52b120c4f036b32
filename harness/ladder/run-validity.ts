// Whether a whole run measured what it claims to have measured: every reason of its tiers, and what only the end of the run shows. Pure;
// property-tested.
import type { Balance, Death, Reason, Validity } from '../contract/run-record.js';
import { balanceGap } from './balance.js';
import { deathReasonsOf, failed, unbalanced, verdictOf } from './validity-reasons.js';

export interface RunEvidence {
  readonly plannedTiers: number;
  readonly tiers: readonly { readonly label: string; readonly validity: Validity }[];
  readonly interrupted: boolean;
  /** An objective ended the climb: the tiers that did not run are not missing. */
  readonly aborted: boolean;
  /** What differs from what the plan expects, each with advice (as-planned.ts). */
  readonly notAsPlanned: readonly Reason[];
  readonly failure: string | null;
  /** Null when the learner could not answer at the stop. */
  readonly balance: Balance | null;
  /** What could not be written, or null. */
  readonly recordLost: string | null;
  /** Deaths that no tier claimed: after the last one, or all of them when none ran. */
  readonly deathsOutside: readonly Death[];
  readonly faultsPlanned: boolean;
}

/** Judges the run: invalid when a tier is, when tiers are missing, when the final sums fail, or when the record is not whole. */
export function judgeRun(run: RunEvidence): Validity {
  const reasons: Reason[] = [];
  for (const reason of run.tiers.flatMap((tier) => tier.validity.reasons)) {
    // A quarantined env stays out: the next tiers say the same thing again.
    if (!reasons.some((said) => said.message === reason.message)) reasons.push(reason);
  }
  const has = (...codes: string[]): boolean => reasons.some((reason) => codes.includes(reason.code));
  if (run.interrupted && !has('interrupted'))
    reasons.push({ code: 'interrupted', message: 'stopped before its end', advice: 'run again and let it finish' });
  if (run.tiers.length < run.plannedTiers && reasons.length === 0 && !run.aborted) {
    reasons.push({
      code: 'incomplete',
      message: `${run.tiers.length} of ${run.plannedTiers} tiers ran`,
      advice: 'run again; if it repeats, report it as a bug',
    });
  }
  if (!run.faultsPlanned) reasons.push(...deathReasonsOf(run.deathsOutside));
  if (run.failure !== null && !has('failed', 'worker-died', 'learner-died', 'interrupted')) reasons.push(failed(run.failure));
  if (run.balance === null) {
    if (run.failure === null && !has('learner-died'))
      reasons.push({
        code: 'unbalanced',
        message: 'the learner gave no final count',
        advice: 'see the learner in the deaths and events of the report',
      });
  } else if (balanceGap(run.balance) !== 0) {
    reasons.push(unbalanced(balanceGap(run.balance), ' over the whole run'));
  }
  reasons.push(...run.notAsPlanned);
  if (run.recordLost !== null) {
    reasons.push({ code: 'record-lost', message: run.recordLost, advice: 'free space on that disk, or put the run elsewhere with --out' });
  }
  return verdictOf(reasons);
}
