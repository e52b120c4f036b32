// Pre-flight: what the plan needs against what the machine has, one row a check. Refuses before anything starts, because a run that
// fails after an hour for want of memory has cost an hour. Pure: the probes hand in what they found.
import { EnvladderError } from '../contract/errors.js';
import type { RunRecord } from '../contract/run-record.js';
import { formatBytes, formatCount } from './format-amount.js';
import type { PlanNeeds } from './plan-needs.js';

export type PreflightRow = RunRecord['preflight'][number];

/** What the machine has. Infinity = no limit; null = could not be found out, which never refuses. */
export interface MachineProbes {
  readonly cores: number;
  /** Least of MemAvailable and what the cgroups still grant, and which of them it was. */
  readonly memoryBytes: number | null;
  readonly memoryLimitedBy: string;
  /** Soft RLIMIT_NOFILE. */
  readonly openFiles: number | null;
  /** Tasks that may still be started: RLIMIT_NPROC and pids.max less what runs. */
  readonly tasks: number | null;
  readonly tasksLimitedBy: string;
  /** RLIMIT_FSIZE bounds memfds as it bounds files. */
  readonly fileSizeBytes: number | null;
  /** RLIMIT_AS: V8 and wasm reserve far more address space than they use. */
  readonly addressSpaceBytes: number | null;
  readonly diskBytes: number | null;
  /** The folder the disk was asked about. */
  readonly diskPath: string;
  readonly node: string;
  readonly os: string;
  /** Why the native addon does not load, or null. */
  readonly addonProblem: string | null;
  /** Why the plan's learner backend cannot run, or null. */
  readonly backendProblem: string | null;
  readonly backend: string;
  /** The backend whose files are there, for `auto` the first of them; null without a learner that trains. */
  readonly backendFound: string | null;
  /** cgroup v2 controllers that workers can be given; null where no cgroup folder can be made. */
  readonly controllers: readonly string[] | null;
  /** Why there are none, or null. */
  readonly controllersProblem: string | null;
}

/** The least that holds: Node 20.19 is the first with the loader hooks we use; TensorFlow's node backend breaks on 23. */
const NODE_RANGE = '>= 20.19 and < 23';

function nodeInRange(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return (major === 20 && minor >= 19) || major === 21 || major === 22;
}

interface Check {
  readonly check: string;
  readonly needed: string;
  readonly found: string;
  readonly ok: boolean;
  readonly advice: string;
}

/** Advice is only shown where it is needed. */
const row = (check: Check): PreflightRow => ({ ...check, advice: check.ok ? '' : check.advice });

const atLeast = (found: number | null, needed: number): boolean => found === null || found >= needed;
const bytesFound = (bytes: number | null, where: string): string =>
  bytes === null ? 'unknown' : `${formatBytes(bytes)}${where === '' ? '' : ` (${where})`}`;
const countFound = (count: number | null, where: string): string =>
  count === null ? 'unknown' : `${formatCount(count)}${where === '' ? '' : ` (${where})`}`;

function memoryRows(needs: PlanNeeds, probes: MachineProbes): PreflightRow[] {
  const smaller = `lower --tiers (${formatCount(needs.envs)} envs need ${formatBytes(needs.shmBytes)} of shared memory), give kinds with images a smaller share in --mix, or raise the memory limit`;
  return [
    row({
      check: 'memory',
      needed: formatBytes(needs.memoryBytes),
      found: bytesFound(probes.memoryBytes, probes.memoryLimitedBy),
      ok: atLeast(probes.memoryBytes, needs.memoryBytes),
      advice: smaller,
    }),
    row({
      check: 'shared memory',
      needed: `${formatBytes(needs.shmBytes)} in memfds (part of memory; the size of /dev/shm does not matter)`,
      found: bytesFound(probes.memoryBytes, probes.memoryLimitedBy),
      ok: atLeast(probes.memoryBytes, needs.shmBytes),
      advice: smaller,
    }),
    row({
      check: 'file size limit',
      needed: `${formatBytes(needs.shmBytes)} (memfds count as files)`,
      found: bytesFound(probes.fileSizeBytes, ''),
      ok: atLeast(probes.fileSizeBytes, needs.shmBytes),
      advice: 'run: ulimit -f unlimited',
    }),
    row({
      check: 'address space',
      needed: 'unlimited (V8 and wasm reserve more than they use)',
      found: bytesFound(probes.addressSpaceBytes, ''),
      ok: atLeast(probes.addressSpaceBytes, Number.POSITIVE_INFINITY),
      advice: 'run: ulimit -v unlimited',
    }),
  ];
}

function countRows(needs: PlanNeeds, probes: MachineProbes): PreflightRow[] {
  return [
    row({
      check: 'file descriptors',
      needed: formatCount(needs.fds),
      found: countFound(probes.openFiles, 'soft limit'),
      ok: atLeast(probes.openFiles, needs.fds),
      advice: `run: ulimit -n ${Math.max(4096, needs.fds)} in this shell (up to the hard limit, ulimit -Hn), or raise nofile in /etc/security/limits.conf`,
    }),
    row({
      check: 'processes and threads',
      needed: `${formatCount(needs.threads)} (${needs.processes} processes)`,
      found: countFound(probes.tasks, probes.tasksLimitedBy),
      ok: atLeast(probes.tasks, needs.threads),
      advice: `run: ulimit -u ${needs.threads + 1024}, raise the cgroup's pids.max, lower --workers, or raise the pack of isolated entries`,
    }),
  ];
}

/** Only where the plan relies on them: everything else works without. */
function cgroupRows(needs: PlanNeeds, probes: MachineProbes): PreflightRow[] {
  if (needs.controllers.length === 0) return [];
  const found = probes.controllers ?? [];
  return [
    row({
      check: 'cgroup controllers',
      needed: `${needs.controllers.join(' and ')} of cgroup v2 (groups.dormant: throttled)`,
      found: probes.controllersProblem ?? (found.length === 0 ? 'none delegated' : found.join(', ')),
      ok: needs.controllers.every((name) => found.includes(name)),
      advice: 'use groups.dormant: frozen or not-started, or start under systemd-run --user --scope -p Delegate=yes',
    }),
  ];
}

/** One row a check, in the order a person would look. */
export function evaluatePreflight(needs: PlanNeeds, probes: MachineProbes): PreflightRow[] {
  return [
    row({
      check: 'node',
      needed: NODE_RANGE,
      found: probes.node,
      ok: nodeInRange(probes.node),
      advice: 'install Node 20 or 22: https://nodejs.org/en/download',
    }),
    row({
      check: 'operating system',
      needed: 'linux',
      found: probes.os,
      ok: probes.os === 'linux',
      advice: 'envladder uses memfd and futex: run it on Linux, in a VM or a container',
    }),
    row({
      check: 'native addon',
      needed: 'loads',
      found: probes.addonProblem ?? 'loads',
      ok: probes.addonProblem === null,
      advice: 'build it: npm run native (needs a C++20 compiler: apt-get install g++)',
    }),
    row({
      check: 'cores',
      needed: `1 (2 or more are better: ${needs.workers} worker${needs.workers === 1 ? '' : 's'}, a learner, a supervisor)`,
      found: String(probes.cores),
      ok: probes.cores >= 1,
      advice: 'at least one core is needed',
    }),
    ...memoryRows(needs, probes),
    ...countRows(needs, probes),
    ...cgroupRows(needs, probes),
    row({
      check: 'disk',
      needed: formatBytes(needs.diskBytes),
      found: bytesFound(probes.diskBytes, probes.diskPath),
      ok: atLeast(probes.diskBytes, needs.diskBytes),
      advice: 'free some space, or put the run elsewhere with --out DIR',
    }),
    row({
      check: 'learner backend',
      needed: probes.backend,
      found: probes.backendProblem ?? probes.backendFound ?? 'available',
      ok: probes.backendProblem === null,
      advice: 'leave --backend at auto, or install it (npm run setup:tfjs-node)',
    }),
  ];
}

/** Throws `preflight` naming every check that failed, with needed, found and what to do. */
export function refuseIfUnfit(rows: readonly PreflightRow[]): void {
  const failed = rows.filter((each) => !each.ok);
  if (failed.length === 0) return;
  const lines = failed.map((each) => `${each.check}: needed ${each.needed}, found ${each.found}\n  ${each.advice}`);
  throw new EnvladderError('preflight', `this machine cannot run the plan; nothing was started\n${lines.join('\n')}`, {
    detail: { failed },
  });
}
