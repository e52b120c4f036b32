// The run in one sentence and a handful of figures: what the top of every format says. Pure.
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import { formatCount, formatRate, formatSeconds } from '../quantity.js';
import { holdsText } from './objectives.js';

/** The largest tier that was measured: the one the headline speaks of. */
export function topTier(record: RunRecord): TierResult | undefined {
  return record.tiers
    .filter((tier) => tier.seconds > 0)
    .reduce<TierResult | undefined>((top, tier) => (top === undefined || tier.envs >= top.envs ? tier : top), undefined);
}

/** Sum of PSS over all roles in bytes; null when nothing was read. */
export function totalPss(tier: TierResult): number | null {
  const roles = Object.values(tier.memory);
  return roles.length === 0 ? null : roles.reduce((sum, role) => sum + role.pss_bytes, 0);
}

/** What held, and what the run showed, as sentences. Says what did not happen as plainly as what did. */
export function headline(record: RunRecord): string {
  const holds = holdsText(record);
  const other = holds !== '' && record.headline?.tier !== (topTier(record)?.tier ?? null);
  return `${holds}${other ? 'Largest tier measured: ' : ''}${shownSentence(record)}`;
}

function shownSentence(record: RunRecord): string {
  const tier = topTier(record);
  if (tier === undefined) return record.run.state === 'running' ? 'No tier has been measured yet.' : 'No tier was measured.';
  const live = tier.envs_live === tier.envs ? formatCount(tier.envs) : `${formatCount(tier.envs_live)} of ${formatCount(tier.envs)}`;
  const lived = `${live} environment${tier.envs === 1 ? '' : 's'} live for ${formatSeconds(tier.seconds)} at ${formatRate(tier.sampling_sps)} steps/s`;
  switch (record.learner.mode) {
    case 'ppo':
      return `${lived}; PPO trained on ${formatRate(tier.training_sps)} transitions/s.`;
    case 'random':
      return `${lived}, answered with random actions; nothing was trained.`;
    default:
      return `${lived}, without a learner.`;
  }
}

/** State of the run in words that need no glossary. */
export function stateText(record: RunRecord): string {
  switch (record.run.state) {
    case 'running':
      return 'still running, or killed before it could say so';
    case 'finished':
      return 'finished';
    case 'interrupted':
      return 'interrupted, stopped cleanly';
    case 'failed':
      return 'failed';
  }
}

/** Tiers that are invalid by themselves. */
export function invalidTiers(record: RunRecord): TierResult[] {
  return record.tiers.filter((tier) => tier.validity.verdict === 'invalid');
}
