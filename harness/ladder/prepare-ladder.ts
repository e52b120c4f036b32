// Everything that is decided before a run exists: the plan is read, its needs are added up, the machine is looked at. The commands
// `ladder`, `plan` and `doctor` share it, so that they can never disagree.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { EnvladderError } from '../contract/errors.js';
import type { EntryMessage } from '../contract/messages.js';
import { entryMessage } from '../supervisor/entry-message.js';
import { probeMachine } from './machine-probes.js';
import type { PlanFlags } from './plan-flags.js';
import { type PlanNeeds, planNeeds } from './plan-needs.js';
import { evaluatePreflight, type PreflightRow } from './preflight.js';
import { type ReadPlan, readPlan } from './read-plan.js';
import { refuseEmpty } from './refuse-empty.js';
import { makeRunId } from './run-id.js';

export interface PreparedLadder {
  readonly read: ReadPlan;
  readonly entries: readonly EntryMessage[];
  readonly needs: PlanNeeds;
  readonly runId: string;
  readonly outDir: string;
  readonly preflight: readonly PreflightRow[];
}

export interface PrepareRequest {
  readonly plan: string;
  readonly flags: PlanFlags;
  /** Folder of the run; undefined = runs/<id>. */
  readonly out: string | undefined;
  readonly cwd: string;
}

/** Throws what `readPlan` and `planNeeds` throw, and `bad-usage` for a flag with nothing in it. Starts nothing and writes nothing. */
export async function prepareLadder(request: PrepareRequest): Promise<PreparedLadder> {
  refuseEmpty('--out', request.out, 'folder', "give the run folder's path, or leave --out away for runs/<id>");
  refuseEmpty('--module', request.flags.module, 'module', "give the module's path, or leave --module away for the built-in kinds");
  const read = await readPlan({ ...request, cores: availableParallelism() });
  const entries = read.plan.mix.map((entry, index): EntryMessage => {
    const kind = read.kinds[index];
    if (kind === undefined) throw new Error(`mix entry ${entry.name} was not resolved`);
    return entryMessage(read.plan, entry, kind);
  });
  const needs = planNeeds(read.plan, entries);
  const runId = makeRunId(read.plan.name);
  const outDir = request.out ?? join('runs', runId);
  return { read, entries, needs, runId, outDir, preflight: evaluatePreflight(needs, probeMachine(read.plan, outDir)) };
}

/** A backend asked for by name must be there; `auto` takes what there is. Throws `backend-missing` with the way to install it. */
export function requireBackend(prepared: PreparedLadder): void {
  const { backend } = prepared.read.plan;
  const row = prepared.preflight.find((each) => each.check === 'learner backend');
  if (backend === 'auto' || row === undefined || row.ok) return;
  throw new EnvladderError(
    'backend-missing',
    `--backend ${backend}: ${row.found}; install it with: npm run setup:tfjs-node, or leave --backend at auto`,
    {
      detail: { backend },
    },
  );
}
