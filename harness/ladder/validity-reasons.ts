// Reasons that a tier and a whole run share, and the verdict that reasons make: a single one makes a result invalid. Pure.
import type { Death, Reason, Validity } from '../contract/run-record.js';
import { adviceForDeath, describeDeath, isExplained } from './describe-death.js';
import { formatCount } from './format-amount.js';

export const verdictOf = (reasons: readonly Reason[]): Validity => ({
  verdict: reasons.length === 0 ? 'valid' : 'invalid',
  reasons: [...reasons],
});

/** Longest part of a failure kept in a reason: children's last words can fill pages, and stand in the deaths. */
const MAX_FAILURE_CHARS = 300;

/** The first line, shortened. */
export const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, MAX_FAILURE_CHARS);

/** The run, or the tier, could not go on. */
export function failed(failure: string | null): Reason {
  return { code: 'failed', message: firstLine(failure ?? 'the run could not go on'), advice: 'see deaths and events in the report' };
}

/** `gap` over 0: so many published frames were neither trained nor dropped; below 0: so many were counted twice. */
export function unbalanced(gap: number, where: string): Reason {
  const what =
    gap > 0 ? `${formatCount(gap)} published frames are unaccounted for${where}` : `${formatCount(-gap)} frames were counted twice${where}`;
  return { code: 'unbalanced', message: what, advice: 'figures of this run cannot be trusted; keep the run folder and report it as a bug' };
}

/** Deaths whose cause nobody knows, or whose range did not come back. */
export function deathReasonsOf(deaths: readonly Death[]): Reason[] {
  return deaths
    .filter((death) => !isExplained(death))
    .map((death) => ({ code: `${death.role}-died`, message: describeDeath(death), advice: adviceForDeath(death) }));
}
