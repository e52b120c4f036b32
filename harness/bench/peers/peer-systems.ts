// Everything that is put side by side: what it is called, whose it is, which Python environment it needs, and what it cannot do, each with
// the reason that stands beside its dash in the table.
import type { VenvName } from './peer-venvs.js';

export const PEERS = ['gymnasium', 'envpool', 'puffer', 'sb3'] as const;
export type PeerName = (typeof PEERS)[number];

export interface PeerSystem {
  readonly id: string;
  readonly peer: PeerName | 'envladder';
  readonly label: string;
  readonly venv: VenvName | null;
  /** One process (and three descriptors) per env. */
  readonly perEnvMb?: number;
  /** Can step an env that its user wrote in Python or JS. */
  readonly ownEnvs: boolean;
}

const system = (id: string, peer: PeerSystem['peer'], label: string, more: Partial<PeerSystem> = {}): PeerSystem => ({
  id,
  peer,
  label,
  venv: peer === 'envladder' ? null : peer,
  ownEnvs: true,
  ...more,
});

const SYSTEMS = [
  system('own', 'envladder', 'envladder, 1 worker + consumer'),
  system('gym-sync', 'gymnasium', 'gymnasium SyncVectorEnv'),
  // 4.2 MB of PSS per env were measured with 1,000 of them.
  system('gym-async', 'gymnasium', 'gymnasium AsyncVectorEnv', { perEnvMb: 4.2 }),
  system('gym-numpy', 'gymnasium', 'gymnasium CartPoleVectorEnv (numpy)', { ownEnvs: false }),
  system('envpool', 'envpool', 'envpool, its own number of threads', { ownEnvs: false }),
  system('envpool-1', 'envpool', 'envpool, 1 thread', { ownEnvs: false }),
  system('puffer-c', 'puffer', 'pufferlib C cartpole, in process', { ownEnvs: false }),
  system('puffer-1', 'puffer', 'pufferlib Multiprocessing, 1 worker'),
  system('puffer-2', 'puffer', 'pufferlib Multiprocessing, 2 workers'),
  system('sb3-dummy', 'sb3', 'SB3 DummyVecEnv'),
  // With fork; the default (forkserver) imports torch in every worker, 300 MB each.
  system('sb3-subproc', 'sb3', 'SB3 SubprocVecEnv (fork)', { perEnvMb: 14.5 }),
] as const;

/** A system by its id; an unknown one is a programming error. */
export function systemOf(id: string): PeerSystem {
  const found = SYSTEMS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no system '${id}'`);
  return found;
}

export interface Room {
  readonly freeBytes: number;
  readonly fdLimit: number;
}

/** A peer may take this share of the free memory: the machine has no swap to fall back on, and other work on it. */
const MEMORY_SHARE = 0.5;
/** Pipes and a process handle per env in the parent. */
const FDS_PER_ENV = 3;

/** Why `system` cannot do `task` with so many envs here; null when it can be tried. */
export function refusal({ id, ownEnvs, perEnvMb }: PeerSystem, task: 'cartpole' | 'dict', envs: number, room: Room): string | null {
  if (task === 'dict' && !ownEnvs) {
    if (id.startsWith('envpool')) return 'steps only C++ environments that are compiled into it';
    if (id === 'puffer-c') return 'an environment written in C; it is no transport';
    return 'one environment vectorised by hand; there is none of this shape';
  }
  if (perEnvMb === undefined) return null;
  const bytes = envs * perEnvMb * 1e6;
  const gb = (value: number): string => (value / 1e9).toFixed(1);
  if (bytes > room.freeBytes * MEMORY_SHARE) {
    return `a process per env: about ${gb(bytes)} GB, ${gb(room.freeBytes)} GB are free`;
  }
  if (envs * FDS_PER_ENV > room.fdLimit) return `a process per env: about ${envs * FDS_PER_ENV} descriptors, the limit is ${room.fdLimit}`;
  return null;
}
