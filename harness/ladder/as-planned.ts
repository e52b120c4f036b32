// Whether a run is the run that was planned: Node, machine and env contract as the plan's `expect` says, and the envs' code the same at
// its end as at its start (a worker that was restarted in between loads what lies on the disk). Each difference makes the run invalid. Pure.
import type { Plan } from '../contract/plan.js';
import type { Reason, RunRecord } from '../contract/run-record.js';

export interface AsPlannedFacts {
  readonly expect: Plan['expect'];
  readonly machine: Pick<RunRecord['machine'], 'node' | 'cores' | 'cpu_model'>;
  readonly seed: number;
  readonly contractAtStart: string | null;
  /** Null when it could not be read again. */
  readonly contractAtEnd: string | null;
}

/** "20" fits v20.19.1, not v2 or v200. */
function fitsVersion(expected: string, found: string): boolean {
  const bare = (version: string): string => version.replace(/^v/, '');
  return bare(found) === bare(expected) || bare(found).startsWith(`${bare(expected)}.`);
}

/** Hashes are told apart by their beginning. */
const short = (hash: string | null): string => hash?.slice(0, 12) ?? 'none';

export function judgeAsPlanned({ expect, machine, seed, contractAtStart, contractAtEnd }: AsPlannedFacts): Reason[] {
  const reasons: Reason[] = [];
  if (expect.node !== undefined && !fitsVersion(expect.node, machine.node))
    reasons.push({
      code: 'node-differs',
      message: `Node ${machine.node} ran, the plan expects ${expect.node}`,
      advice: 'run with that version of Node, or change expect.node in the plan',
    });
  if (expect.seed !== undefined && expect.seed !== seed)
    reasons.push({
      code: 'seed-differs',
      message: `seed ${seed} ran, the plan expects ${expect.seed}`,
      advice: 'run without --seed, or change expect.seed in the plan',
    });
  if (expect.cores !== undefined && expect.cores !== machine.cores)
    reasons.push({
      code: 'machine-differs',
      message: `the machine has ${machine.cores} cores, the plan expects ${expect.cores}`,
      advice: 'run on the machine class that the plan was made for, or change expect.cores in the plan',
    });
  if (expect.cpuModel !== undefined && expect.cpuModel !== machine.cpu_model)
    reasons.push({
      code: 'machine-differs',
      message: `the CPU is '${machine.cpu_model}', the plan expects '${expect.cpuModel}'`,
      advice: 'run on the machine class that the plan was made for, or change expect.cpuModel in the plan',
    });
  if (expect.contractSha256 !== undefined && expect.contractSha256 !== contractAtStart)
    reasons.push({
      code: 'contract-differs',
      message: `the env contract is ${short(contractAtStart)}, the plan expects ${short(expect.contractSha256)}`,
      advice: 'kinds, configs, spaces or memory layout changed: restore them, or take the new contract_sha256 into the plan',
    });
  if (contractAtEnd !== null && contractAtEnd !== contractAtStart)
    reasons.push({
      code: 'contract-changed',
      message: `the code of an env kind changed while the run went on (contract ${short(contractAtStart)}, then ${short(contractAtEnd)})`,
      advice: 'leave the files of env kinds alone during a run: restarted workers load them again',
    });
  return reasons;
}
