// One hash over what the envs of a run are and how they lie in memory: two runs with the same hash stepped the same code with the same
// config, in the same layout. Not part of it: how many envs, for how long, on how many workers, with which seed.
import { createHash } from 'node:crypto';
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import type { RunRecord } from '../contract/run-record.js';
import { canonicalJson } from '../envs/provenance.js';
import { LAYOUT_VERSION } from '../memory/layout.js';

/** `kinds` and `entries` by mix entry. */
export function contractSha256(plan: Plan, kinds: RunRecord['env_kinds'], entries: readonly EntryMessage[]): string {
  const envs = entries.map(({ name, kind, spaces }) => {
    const { version, code_sha256, config_sha256 } = kinds[name] ?? {};
    const share = plan.mix.find((entry) => entry.name === name)?.share;
    return { name, kind, share, version, code_sha256, config_sha256, spaces };
  });
  const text = canonicalJson({ layout: LAYOUT_VERSION, cells: plan.cells, autoreset: plan.autoreset, envs });
  return createHash('sha256').update(text).digest('hex');
}
