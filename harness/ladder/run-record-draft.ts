// The record of a run at its very beginning: who runs what on which machine. Written at once, so that a supervisor killed a second
// later leaves a record that says it was running.
import { readMachineFacts } from '../bench/machine-facts.js';
import { EXIT } from '../contract/exit-codes.js';
import type { Plan } from '../contract/plan.js';
import type { RigFacts } from '../contract/rig-facts.js';
import { RUN_RECORD_VERSION, type RunRecord } from '../contract/run-record.js';
import type { ProcessIdentity } from '../store/process-identity.js';
import type { PreflightRow } from './preflight.js';

export interface DraftFacts {
  readonly id: string;
  readonly owner: ProcessIdentity;
  readonly command: string;
  readonly version: string;
  readonly gitCommit: string | null;
  readonly plan: Plan;
  readonly envKinds: RunRecord['env_kinds'];
  readonly contractSha256: string;
  readonly preflight: readonly PreflightRow[];
  readonly rig: RigFacts | null;
}

/** State `running`, verdict `invalid` until the end says otherwise: a record nobody finished must not read as a pass. */
export function draftRecord(facts: DraftFacts): RunRecord {
  return {
    schema_version: RUN_RECORD_VERSION,
    run: {
      id: facts.id,
      state: 'running',
      started_at: new Date().toISOString(),
      ended_at: null,
      seconds: 0,
      supervisor: { pid: facts.owner.pid, start_ticks: facts.owner.start_ticks, boot_id: facts.owner.boot_id },
      command: facts.command,
      envladder_version: facts.version,
      git_commit: facts.gitCommit,
      resumed_from: null,
    },
    machine: readMachineFacts(),
    plan: { ...facts.plan },
    learner: { mode: facts.plan.learner, backend: null, backend_version: null },
    env_kinds: facts.envKinds,
    preflight: [...facts.preflight],
    tiers: [],
    balance: null,
    deaths: [],
    checkpoints: [],
    events: { written: 0, dropped: 0 },
    validity: { verdict: 'invalid', reasons: [] },
    verdict: 'invalid',
    slo_verdict: 'none',
    headline: null,
    contract_sha256: facts.contractSha256,
    warnings: [],
    health: null,
    rig: facts.rig === null ? null : { config_hash: facts.rig.config_hash, facts: facts.rig.facts, slices: null },
    exit_code: EXIT.invalid,
  };
}
