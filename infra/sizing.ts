// What a host of a given size gives to whom: CPUs, memory, tasks and descriptors for the four slices of the rig, and the worker count of
// its ladders. Pure: the program, the doctor and tests call it with the same figures and get the same answer. CPUs of two slices overlap
// only on hosts under four cores, where weights decide instead; memory limits never add up to more than the host has.
import { EnvladderError } from '../harness/contract/errors.js';
import { MAX_ENVS, MAX_WORKERS } from '../harness/contract/limits.js';
import { cpuList } from './cpu-list.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** The four slices under envladder.slice. Supervisor and workers are in `workers`, with the segments that the supervisor pre-faults. */
export const RIG_SLICES = ['system', 'learner', 'redis', 'workers'] as const;
export type RigSlice = (typeof RIG_SLICES)[number];

export interface SizingInput {
  /** CPUs the kernel shows: hardware threads. */
  readonly cores: number;
  /** 2 = the upper half of the CPU numbers are the siblings of the lower half, as Linux numbers them on EPYC and Xeon. */
  readonly threadsPerCore?: 1 | 2;
  readonly ramBytes: number;
  readonly gpus: number;
  readonly envs: number;
  /** Observation of one env, all keys, one cell. */
  readonly obsBytes: number;
  /** Ring depth of the plan. */
  readonly cells?: number;
  /** Memory of one env beside its observation: a simulator's own; 2 KiB is an env that lives in its worker's heap. */
  readonly envBytes?: number;
  readonly redisReplicas?: number;
}

export interface SliceSizing {
  /** As the kernel writes lists: "0-3,128-131". */
  readonly cpus: string;
  readonly cpuWeight: number;
  readonly ioWeight: number;
  /** Protected from reclaim. */
  readonly memoryLowBytes: number;
  /** Above it the kernel reclaims and slows down. */
  readonly memoryHighBytes: number;
  /** Above it the kernel kills. */
  readonly memoryMaxBytes: number;
  readonly tasksMax: number;
}

export interface RigSizing {
  /** For `workers` of a plan. */
  readonly workers: number;
  /** Shared memory of the segments: memfds, so /dev/shm's size does not bound them, but the workers slice is charged. */
  readonly shmBytes: number;
  /** LimitNOFILE of the ladder's service. */
  readonly nofile: number;
  /** kernel.pid_max, at least. */
  readonly pidMax: number;
  /** vm.max_map_count, at least. */
  readonly maxMapCount: number;
  /** Reserved 2 MiB pages: none. Segments are ordinary memfds, so a reservation would only take memory away from them. */
  readonly hugepages: number;
  readonly redisMaxmemoryBytes: number;
  readonly slices: Readonly<Record<RigSlice, SliceSizing>>;
}

/** Of each CPU and disk second in dispute: reaching the host comes first, then state, then the one learner, then the many workers. */
const WEIGHT: Readonly<Record<RigSlice, number>> = { system: 400, redis: 300, learner: 200, workers: 100 };

/** envladder plan's own estimates (harness/ladder/plan-needs.ts), restated here because infra may import the contract alone. */
const SUPERVISOR_BYTES = 150 * MIB;
const WORKER_BYTES = 90 * MIB;
const WORKER_BYTES_PER_ENV = 2048;
/** TensorFlow.js with its backend, before the first env. */
export const LEARNER_BYTES = 600 * MIB;
/** A rollout row of 128 transitions with the largest policy input, 780 floats. */
const LEARNER_BYTES_PER_ENV = 128 * 780 * 4;
/** Host side of one CUDA context with cuDNN's and TensorFlow's pinned buffers, rounded up. */
const LEARNER_BYTES_PER_GPU = 4 * GIB;
/** Control lines and small planes of a slot, rounded up from 5 lines of 64 B. */
const SLOT_BYTES = 512;
/** A run keeps about 4 KiB per env in Redis; four times that leaves room for several runs. */
const REDIS_BYTES_PER_ENV = 16 * 1024;
/** Over maxmemory: pages copied while a child process sends the data to a replica, and output buffers. */
const REDIS_OVERHEAD = 1.5;

interface CpuSplit {
  readonly cpus: Readonly<Record<RigSlice, readonly number[]>>;
  readonly workers: number;
}

/** Whole cores are dealt out, so that no two slices share the two threads of one. */
function splitCpus(cores: number, threads: 1 | 2, gpus: number): CpuSplit {
  const physical = threads === 2 && cores % 2 === 0 ? cores / 2 : cores;
  const threadsOf = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => from + index).flatMap((core) => (physical === cores ? [core] : [core, core + physical]));
  const all = threadsOf(0, physical);
  if (physical < 4) return { cpus: { system: all, redis: all, learner: all, workers: all }, workers: Math.max(1, cores - 1) };
  const system = Math.max(1, Math.floor(physical / 64));
  // Three Redis processes, one of them busy; below 16 cores a core of their own would be idle most of the time.
  const redis = physical >= 16 ? Math.max(1, Math.floor(physical / 64)) : 0;
  // A learner on GPUs feeds them (two cores each); one without does all its arithmetic on the CPU, on a quarter of it.
  const learner = Math.max(1, Math.min(gpus > 0 ? 2 * gpus : Math.floor(physical / 4), Math.floor(physical / 4)));
  const taken = system + redis + learner;
  const systemCpus = threadsOf(0, system);
  const workers = threadsOf(taken, physical - taken);
  return {
    cpus: {
      system: systemCpus,
      redis: redis === 0 ? systemCpus : threadsOf(system, redis),
      learner: threadsOf(system + redis, learner),
      workers,
    },
    workers: workers.length,
  };
}

function checkInput(input: SizingInput): void {
  const bounds: readonly [keyof SizingInput, number, number][] = [
    ['cores', 1, 8192],
    ['ramBytes', 512 * MIB, 2 ** 46],
    ['gpus', 0, 64],
    ['envs', 1, MAX_ENVS],
    ['obsBytes', 1, 2 ** 31],
    ['cells', 2, 256],
    ['envBytes', 0, 2 ** 40],
    ['redisReplicas', 0, 16],
  ];
  for (const [key, least, most] of bounds) {
    const value = input[key];
    if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) continue;
    throw new EnvladderError('bad-plan', `rig sizing: ${key} is ${value}; it is a whole number from ${least} to ${most}`, {
      detail: { key, value, least, most },
    });
  }
}

const powerOfTwoFrom = (value: number): number => 2 ** Math.ceil(Math.log2(value));
const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

/** What each slice needs at the least; throws `preflight` when the host has less. */
function memoryNeeds(input: SizingInput, workers: number, shmBytes: number, redisBytes: number): Record<RigSlice, number> {
  const needs: Record<RigSlice, number> = {
    system: Math.floor(clamp(input.ramBytes / 20, 192 * MIB, 32 * GIB)),
    learner: LEARNER_BYTES + input.envs * LEARNER_BYTES_PER_ENV + input.gpus * LEARNER_BYTES_PER_GPU,
    redis: Math.ceil(redisBytes * (1 + (input.redisReplicas ?? 2)) * REDIS_OVERHEAD),
    workers: SUPERVISOR_BYTES + workers * WORKER_BYTES + input.envs * (input.envBytes ?? WORKER_BYTES_PER_ENV) + shmBytes,
  };
  const sum = RIG_SLICES.reduce((total, slice) => total + needs[slice], 0);
  if (sum <= input.ramBytes) return needs;
  const mib = (bytes: number): string => `${Math.ceil(bytes / MIB).toLocaleString('en-US')} MiB`;
  throw new EnvladderError(
    'preflight',
    `rig sizing: ${input.envs} envs need ${mib(sum)} (${RIG_SLICES.map((slice) => `${slice} ${mib(needs[slice])}`).join(', ')}), ` +
      `the host has ${mib(input.ramBytes)}; fewer envs, fewer cells or more memory`,
    { detail: { needs, ramBytes: input.ramBytes } },
  );
}

/** Sizes the rig. Throws `bad-plan` for a value out of range (the key is named) and `preflight` when the envs do not fit the host's memory. */
export function sizeRig(input: SizingInput): RigSizing {
  checkInput(input);
  const { cpus, workers: cpuWorkers } = splitCpus(input.cores, input.threadsPerCore ?? 1, input.gpus);
  const workers = Math.min(cpuWorkers, MAX_WORKERS, input.envs);
  const shmBytes = input.envs * (input.obsBytes * (input.cells ?? 2) + SLOT_BYTES);
  const redisMaxmemoryBytes = Math.max(64 * MIB, input.envs * REDIS_BYTES_PER_ENV);
  const needs = memoryNeeds(input, workers, shmBytes, redisMaxmemoryBytes);
  // What is left over goes to the two that can use it, as they need it.
  const spare = input.ramBytes - RIG_SLICES.reduce((sum, slice) => sum + needs[slice], 0);
  const growing = needs.learner + needs.workers;
  const tasks: Record<RigSlice, number> = {
    system: 512,
    redis: 512,
    // Node, TensorFlow's pools (as many threads as cores, twice) and room.
    learner: 512 + 4 * input.cores,
    // 16 threads a process; an env may have a process of its own with a few threads.
    workers: 1024 + 32 * workers + 8 * input.envs,
  };
  const slice = (name: RigSlice): SliceSizing => {
    const grows = name === 'learner' || name === 'workers';
    const share = needs[name] + (grows ? Math.floor((spare * needs[name]) / growing) : 0);
    // The learner is born beside the supervisor and moved a moment later, and pages stay charged where they were first touched: what it loads
    // at its start may count here instead of there, and pre-flight sees this limit alone.
    const memoryMaxBytes = share + (name === 'workers' ? LEARNER_BYTES : 0);
    return {
      cpus: cpuList(cpus[name]),
      cpuWeight: WEIGHT[name],
      ioWeight: WEIGHT[name],
      // The kernel scales protection down when it is over-committed, but a promise that fits is clearer.
      memoryLowBytes: name === 'workers' ? 0 : Math.floor(needs[name] / 2),
      memoryHighBytes: Math.floor(memoryMaxBytes * 0.95),
      memoryMaxBytes,
      tasksMax: tasks[name],
    };
  };
  const allTasks = RIG_SLICES.reduce((sum, name) => sum + tasks[name], 0);
  return {
    workers,
    shmBytes,
    // A socket, a log and a few files per env; fs.nr_open is 2^20 by default and the ceiling.
    nofile: clamp(powerOfTwoFrom(4096 + 64 * workers + 8 * input.envs), 8192, 1_048_576),
    pidMax: clamp(powerOfTwoFrom(4 * allTasks), 32_768, 4_194_304),
    // 65,530 by default; hundreds of maps per Node process are far below, but a process holds the planes of every segment.
    maxMapCount: clamp(powerOfTwoFrom(65_530 + 16 * input.envs), 262_144, 2_147_483_647),
    hugepages: 0,
    redisMaxmemoryBytes,
    slices: { system: slice('system'), learner: slice('learner'), redis: slice('redis'), workers: slice('workers') },
  };
}
