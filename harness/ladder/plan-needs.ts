// What a plan will need from the machine, added up before anything starts: shared memory by plane, seats, processes, threads, file
// descriptors, memory, cgroups, disk. `envladder plan` prints it, pre-flight compares it with what the machine has. Pure; estimates, each with
// the figure it rests on.
import type { EntryMessage } from '../contract/messages.js';
import type { Plan } from '../contract/plan.js';
import { layoutSegment } from '../memory/layout.js';
import { type BlockPlan, planBlocks } from '../supervisor/block-plan.js';
import { learnerNeeds } from './learner-needs.js';

const MIB = 2 ** 20;

/** A Node child with the addon and the env kinds loaded: 41 MB RSS bare (measured), with headroom for V8's young generation. */
const WORKER_BASE_BYTES = 90 * MIB;
/** A thread of a host process with the same loaded: 17 MiB (measured, 16 threads), with headroom likewise. */
const THREAD_SEAT_BYTES = 32 * MIB;
/** Slots, episode counters and kind state on the worker's heap: bounded by measurement at 7,000 cartpoles, rounded up. */
const WORKER_BYTES_PER_ENV = 2048;
/** Supervisor with the SQLite writer thread. */
const SUPERVISOR_BYTES = 150 * MIB;
/** TensorFlow.js with the wasm backend: code, wasm heap and one update's temporaries at the default minibatch. */
const LEARNER_BASE_BYTES = { ppo: 600 * MIB, random: 100 * MIB, none: 100 * MIB } as const;
/** V8's platform and GC threads, libuv's four, and one writer thread: 11 are seen in a Node 20 process on any number of cores. */
const THREADS_PER_PROCESS = 16;
/** Its own, and the native one that stamps its progress line. */
const THREADS_PER_THREAD_SEAT = 2;
/**
 * Descriptors that are not ours to count: Node itself (about 25), the module loader's parallel reads, TensorFlow.js, SQLite, and
 * whatever an env module opens (bridges, assets). 256 is the historic soft limit of small systems: a machine that grants no more
 * leaves nothing for the envs.
 */
const FD_RESERVE = 256;
/** Least soft limit accepted, whatever the plan. Doubles the reserve so that an env module may use as much as envladder keeps. */
const FD_FLOOR = 512;
/** stdio, IPC, memfd, pidfd and the fds that pass through while a child is spawned. */
const FDS_PER_CHILD = 16;
/** A seat's segment: supervisor and learner hold those of all seats. */
const FDS_PER_SEAT = 1;
/** The bookkeeping bound envladder keeps to: one descriptor per 100 envs. */
const ENVS_PER_FD = 100;
const DISK_FLOOR_BYTES = 64 * MIB;
const METRICS_BYTES_PER_SECOND = 1200;
const EVENT_BYTES = 400;

export interface PlaneNeed {
  readonly entry: string;
  readonly plane: string;
  readonly envs: number;
  readonly bytesPerEnv: number;
  readonly bytes: number;
}

export interface PlanNeeds {
  readonly envs: number;
  /** Seats that step inline envs, and those that step a pack of isolated ones or a dormant group. */
  readonly workers: number;
  readonly packs: number;
  /** Of all seats, those that are threads of a host process. */
  readonly threadSeats: number;
  /** Groups that wake in turn; 0 when tiers start in parallel. */
  readonly groups: number;
  readonly seconds: number;
  readonly planes: readonly PlaneNeed[];
  /** Envs and shared-memory bytes of each tier, cumulative. */
  readonly tiers: readonly { readonly label: string; readonly envs: number; readonly seconds: number; readonly shmBytes: number }[];
  readonly shmBytes: number;
  readonly processes: number;
  readonly threads: number;
  readonly fds: number;
  readonly memory: Readonly<Record<'supervisor' | 'learner' | 'workers' | 'shared', number>>;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** cgroup v2 controllers without which the plan means something else: those that throttle its dormant groups. */
  readonly controllers: readonly string[];
}

/** Every plane of blocks that are live at `tier`, summed by mix entry and key, from the layout that the run itself will use. */
function planesUpTo(tier: number, blocks: BlockPlan, entries: readonly EntryMessage[]): PlaneNeed[] {
  const sums = new Map<string, { entry: string; plane: string; bytes: number; envs: number }>();
  const add = (index: number, plane: string, bytes: number): void => {
    const entry = entries[index]?.name ?? '';
    const sum = sums.get(`${entry} ${plane}`) ?? { entry, plane, bytes: 0, envs: blocks.entryEnvs[tier]?.[index] ?? 0 };
    sum.bytes += bytes;
    sums.set(`${entry} ${plane}`, sum);
  };
  for (const segment of blocks.segments) {
    if (segment.spec.blocks.length === 0) continue;
    layoutSegment(segment.spec).blocks.forEach((block, index) => {
      if ((segment.tierOf[index] ?? 0) > tier) return;
      const entry = segment.entryOf[index] ?? 0;
      let rest = block.bytes;
      for (const plane of block.planes) {
        const bytes = plane.bytes * (plane.finalOffsetBytes === 0 ? 1 : 2);
        add(entry, plane.key, bytes);
        rest -= bytes;
      }
      add(entry, 'control words, rewards, actions', rest);
    });
  }
  return [...sums.values()].map((sum) => ({ ...sum, bytesPerEnv: Math.round(sum.bytes / Math.max(1, sum.envs)) }));
}

/**
 * Adds up what `plan` needs. `entries` are its mix entries with their spaces. Throws `bad-space` when one env alone is too large for
 * a plane, `bad-plan` when `ppo.encoder` does not fit an entry or the plan has too many seats.
 */
export function planNeeds(plan: Plan, entries: readonly EntryMessage[]): PlanNeeds {
  const blocks = planBlocks('needs', plan, entries);
  const { entryEnvs } = blocks;
  const planesAt = (tier: number): PlaneNeed[] => planesUpTo(tier, blocks, entries);
  const bytesOf = (planes: readonly PlaneNeed[]): number => planes.reduce((sum, plane) => sum + plane.bytes, 0);
  const last = plan.tiers.length - 1;
  const planes = planesAt(last);
  const shmBytes = bytesOf(planes);
  const envs = plan.tiers[last]?.envs ?? 0;
  const seconds = plan.tiers.reduce((sum, tier) => sum + tier.seconds, 0);
  const learner = learnerNeeds(plan, entries, entryEnvs[last] ?? []);
  const { segments } = blocks;
  const hosts = new Set(segments.map(({ host }) => host)).size;
  const threadSeats = segments.filter(({ executor }) => executor === 'thread').length;
  const packs = segments.filter(({ isolation, dormant }) => isolation !== 'inline' || dormant !== null).length;
  const memory = {
    supervisor: SUPERVISOR_BYTES,
    learner: LEARNER_BASE_BYTES[plan.learner] + learner.rolloutBytes + learner.networkBytes,
    workers: hosts * WORKER_BASE_BYTES + threadSeats * THREAD_SEAT_BYTES + envs * WORKER_BYTES_PER_ENV,
    shared: shmBytes,
  };
  const processes = hosts + 2;
  return {
    envs,
    workers: segments.length - packs,
    packs,
    threadSeats,
    groups: plan.groups.start === 'groups' ? blocks.groups.length : 0,
    seconds,
    planes,
    tiers: plan.tiers.map((tier, index) => ({
      label: tier.label,
      envs: tier.envs,
      seconds: tier.seconds,
      shmBytes: bytesOf(planesAt(index)),
    })),
    shmBytes,
    processes,
    threads: processes * THREADS_PER_PROCESS + threadSeats * THREADS_PER_THREAD_SEAT,
    fds: Math.max(FD_FLOOR, FD_RESERVE + processes * FDS_PER_CHILD + segments.length * FDS_PER_SEAT + Math.ceil(envs / ENVS_PER_FD)),
    memory,
    memoryBytes: memory.supervisor + memory.learner + memory.workers + memory.shared,
    diskBytes: Math.ceil(DISK_FLOOR_BYTES + seconds * METRICS_BYTES_PER_SECOND + envs * EVENT_BYTES + learner.checkpointBytes),
    controllers: plan.groups.start === 'groups' && plan.groups.dormant === 'throttled' ? ['cpu', 'memory'] : [],
  };
}
