// The `env_kinds` part of the record: what each mix entry is made of, so that two runs can be told to have run the same thing.
import type { RunRecord } from '../contract/run-record.js';
import { describeProvenance } from '../envs/provenance.js';
import type { ReadPlan } from './read-plan.js';

/** One entry per mix entry, by its name. */
export function kindProvenance(read: ReadPlan): RunRecord['env_kinds'] {
  return Object.fromEntries(
    read.plan.mix.flatMap((entry, index) => {
      const kind = read.kinds[index];
      if (kind === undefined) return [];
      const { version, contentHash, configHash, gitCommit } = describeProvenance(kind);
      const facts = {
        kind: entry.kind,
        version,
        code_sha256: contentHash,
        config_sha256: configHash,
        git_commit: gitCommit,
        autoreset: read.plan.autoreset,
      };
      return [[entry.name, facts] as const];
    }),
  );
}
