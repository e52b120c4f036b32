// What two runs must share to be compared or to stand in one history: the class of machine, the plan's name, and everything in plan and
// kinds that shapes the work. What only judges (objectives, bounds of validity) or only names is left out. Pure.
import { createHash } from 'node:crypto';
import type { RunRecord } from '../../harness/contract/run-record.js';

export interface RunIdentity {
  /** Readable: "AMD EPYC, 2 cores, 24 GiB, Node 20". */
  readonly machineClass: string;
  readonly plan: string;
  /** First 12 digits of a SHA-256. */
  readonly configHash: string;
}

/** Fields of a plan, and of its tiers, that change no work. `module` is a path; the kinds it brings are hashed by content. */
const NOT_WORK = ['name', 'description', 'label', 'module', 'slos', 'minStepsPerEnv', 'minUpdates', 'quiet', 'expect'];

/** JSON with sorted keys and without what is no work, so that equal configurations have equal text. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
}

function without(value: unknown, keys: readonly string[]): Record<string, unknown> {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(fields.filter(([key]) => !keys.includes(key)));
}

export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(value)))
    .digest('hex')
    .slice(0, 12);
}

/** Identity of one run. Memory in whole GiB: kernels of one machine size keep slightly different amounts for themselves. */
export function identityOf(record: RunRecord): RunIdentity {
  const { machine, plan, learner, env_kinds: kinds } = record;
  const tiers = Array.isArray(plan['tiers']) ? plan['tiers'].map((tier) => without(tier, NOT_WORK)) : [];
  const config = {
    plan: { ...without(plan, NOT_WORK), tiers },
    kinds: Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, [kind.kind, kind.config_sha256, kind.autoreset]])),
    learner: [learner.mode, learner.backend],
  };
  return {
    machineClass: `${machine.cpu_model}, ${machine.cores} cores, ${Math.round(machine.memory_bytes / 2 ** 30)} GiB, Node ${/\d+/.exec(machine.node)?.[0] ?? '?'}`,
    plan: typeof plan['name'] === 'string' ? plan['name'] : 'unnamed',
    configHash: hashOf(config),
  };
}

export interface Difference {
  readonly what: string;
  readonly values: readonly string[];
}

function differing(what: string, values: readonly (string | null)[]): Difference[] {
  const found = [...new Set(values.filter((value) => value !== null))];
  return found.length > 1 ? [{ what, values: found }] : [];
}

/** What keeps these runs from being compared; empty when nothing does. */
export function blockingDifferences(records: readonly RunRecord[]): Difference[] {
  const all = records.map(identityOf);
  return [
    ...differing(
      'machine class',
      all.map((each) => each.machineClass),
    ),
    ...differing(
      'plan',
      all.map((each) => each.plan),
    ),
    ...differing(
      'configuration (plan, kinds, learner backend)',
      all.map((each) => each.configHash),
    ),
  ];
}

/** What differs and may explain a shift, but blocks nothing. */
export function notableDifferences(records: readonly RunRecord[]): Difference[] {
  const names = [...new Set(records.flatMap((record) => Object.keys(record.env_kinds)))];
  return [
    ...differing(
      'host',
      records.map((record) => record.machine.hostname_hash),
    ),
    ...differing(
      'kernel',
      records.map((record) => record.machine.kernel),
    ),
    ...differing(
      'Node',
      records.map((record) => record.machine.node),
    ),
    ...names.flatMap((name) =>
      differing(
        `version of env kind ${name}`,
        records.map((record) => record.env_kinds[name]?.version ?? null),
      ),
    ),
    ...differing(
      'contract hash',
      records.map((record) => record.contract_sha256?.slice(0, 12) ?? null),
    ),
  ];
}
