// One line of a history file: a run reduced to its identity and its scalars, so that years of runs stay small and no run folder is needed
// to draw them. Written once by `envladder history RUN`, never changed.
import { z } from 'zod';
import type { RunRecord } from '../../harness/contract/run-record.js';
import { hashOf, identityOf } from '../compare/run-identity.js';
import { metricsOf } from '../compare/run-metrics.js';

export const HISTORY_VERSION = 1;

export const historyEntrySchema = z.object({
  version: z.literal(HISTORY_VERSION),
  run: z.string().min(1),
  /** When the run started, ISO 8601 in UTC: entries are ordered by it. */
  at: z.string(),
  git_commit: z.string().nullable(),
  envladder_version: z.string(),
  verdict: z.enum(['valid', 'invalid']),
  machine_class: z.string(),
  plan: z.string(),
  config_hash: z.string(),
  metrics: z.array(
    z.object({
      name: z.string(),
      tier_envs: z.number().nullable(),
      unit: z.enum(['rate', 'micros', 'seconds', 'bytes', 'count']),
      better: z.enum(['higher', 'lower']),
      value: z.number(),
    }),
  ),
});

export type HistoryEntry = z.infer<typeof historyEntrySchema>;

export function entryOf(record: RunRecord): HistoryEntry {
  const identity = identityOf(record);
  return {
    version: HISTORY_VERSION,
    run: record.run.id,
    at: record.run.started_at,
    git_commit: record.run.git_commit,
    envladder_version: record.run.envladder_version,
    verdict: record.verdict,
    machine_class: identity.machineClass,
    plan: identity.plan,
    config_hash: identity.configHash,
    metrics: metricsOf(record).map(({ name, tierEnvs, unit, better, value }) => ({ name, tier_envs: tierEnvs, unit, better, value })),
  };
}

/** Name of the file an entry belongs in: one per plan, configuration and machine class. */
export function historyFileName(entry: HistoryEntry): string {
  const plan = entry.plan
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${plan === '' ? 'plan' : plan}-${entry.config_hash}-${hashOf([entry.machine_class, entry.plan])}.ndjson`;
}
