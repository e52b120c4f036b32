// The desired state of a rig: which concerns it has, in their order, and what each is told. Pure: the program applies it, the doctor checks
// it, the record's config hash is its hash. Values are what infra/scripts/NAME.sh takes as key=value; a test holds the two in step.
import { createHash } from 'node:crypto';
import { CONCERNS, type ConcernName } from './concern-names.js';
import type { RigConfig, RigSecretName } from './config-schema.js';
import { RIG_SLICES, type RigSizing, type RigSlice } from './sizing.js';

export interface DesiredConcern {
  readonly concern: ConcernName;
  /** Never a secret: these words are in the command's text. */
  readonly params: Readonly<Record<string, string>>;
  /** Name on the script's stdin -> key of the config. */
  readonly secrets: Readonly<Record<string, RigSecretName>>;
}

/** The archive that `npm run rig:pack` made, as it will lie on the host. */
export interface ReleaseArchive {
  readonly sha256: string;
  /** Relative to the login user's home. */
  readonly remotePath: string;
}

/** The user that owns the ladders: a system user, so that logind never removes its memory. */
export const SERVICE_USER = 'envladder';

/** What the driver's installer compiles its module with, and the library that it misses otherwise. */
const DRIVER_BUILD_PACKAGES = ['build-essential', 'dkms', 'libvulkan1', 'pkg-config'];

const MIB = 2 ** 20;
const mib = (bytes: number): string => String(Math.floor(bytes / MIB));
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function sysctls(config: RigConfig, sizing: RigSizing): string {
  // `>=`: a host that already allows more keeps it.
  const wanted: Record<string, string> = {
    'kernel.pid_max': `>=${sizing.pidMax}`,
    'net.core.somaxconn': '>=4096',
    'vm.max_map_count': `>=${sizing.maxMapCount}`,
    // Redis copies itself with fork to feed a replica; without this the kernel refuses when memory is more than half full.
    'vm.overcommit_memory': '=1',
    'vm.swappiness': '=1',
    ...Object.fromEntries(Object.entries(config.sysctls).map(([key, value]) => [key, `=${value}`])),
  };
  return Object.keys(wanted)
    .sort()
    .map((key) => `${key}${wanted[key]}`)
    .join(';');
}

function sliceParams(sizing: RigSizing, slice: RigSlice): Record<string, string> {
  const { cpus, cpuWeight, ioWeight, memoryLowBytes, memoryHighBytes, memoryMaxBytes, tasksMax } = sizing.slices[slice];
  const name = capital(slice);
  return {
    [`cpus${name}`]: cpus,
    [`cpuWeight${name}`]: String(cpuWeight),
    [`ioWeight${name}`]: String(ioWeight),
    [`memoryLowMb${name}`]: mib(memoryLowBytes),
    [`memoryHighMb${name}`]: mib(memoryHighBytes),
    [`memoryMaxMb${name}`]: mib(memoryMaxBytes),
    [`tasksMax${name}`]: String(tasksMax),
  };
}

type Params = Record<string, string>;

const PARAMS: { readonly [C in ConcernName]: (config: RigConfig, sizing: RigSizing, release: ReleaseArchive | null) => Params | null } = {
  'host-ready': (config) => ({
    minDiskMb: String(config.minDiskMb),
    // A machine sold as 4 GiB shows its kernel a little less.
    minMemoryMb: String(Math.floor(config.ramMb * 0.9)),
    needGpu: config.gpus > 0 ? 'yes' : 'no',
  }),
  'base-system': (config, sizing) => ({
    packages: [...new Set([...config.packages, ...(config.gpus > 0 ? DRIVER_BUILD_PACKAGES : [])])].sort().join(','),
    ...(config.gpus > 0 ? { headers: 'yes' } : {}),
    kernelHold: config.kernelHold ? 'yes' : 'no',
    sysctls: sysctls(config, sizing),
    nofile: String(sizing.nofile),
  }),
  'nvidia-driver': (config) =>
    config.gpus > 0 ? { version: config.nvidiaVersion, runfile: config.nvidiaRunfile ?? '', sha256: config.nvidiaSha256 ?? '' } : null,
  reboot: (config) => (config.gpus > 0 ? { reboot: config.allowReboot ? 'allowed' : 'refused' } : null),
  'cuda-toolkit': (config) =>
    config.gpus > 0
      ? {
          version: config.cudaVersion,
          runfile: config.cudaRunfile ?? '',
          sha256: config.cudaSha256 ?? '',
          cudnn: config.cudnnArchive ?? '',
          cudnnSha256: config.cudnnSha256 ?? '',
        }
      : null,
  'rig-slices': (config, sizing) => ({
    user: SERVICE_USER,
    uid: String(config.serviceUid),
    envs: String(config.envs),
    nofile: String(sizing.nofile),
    ioMaxMbsWorkers: String(config.ioMaxMbsWorkers),
    ...Object.assign({}, ...RIG_SLICES.map((slice) => sliceParams(sizing, slice))),
  }),
  'redis-trio': (config, sizing) =>
    config.redis
      ? {
          port: String(config.redisPort),
          replicas: String(config.redisReplicas),
          maxmemoryMb: String(config.redisMaxmemoryMb ?? Math.ceil(sizing.redisMaxmemoryBytes / MIB)),
        }
      : null,
  'shm-janitor': (config) => ({ prefix: config.janitorPrefix, minAgeS: String(config.janitorMinAgeS) }),
  'node-runtime': (config) =>
    config.nodeArchive === undefined ? null : { version: config.nodeVersion, url: config.nodeArchive, sha256: config.nodeSha256 ?? '' },
  'envladder-release': (_config, _sizing, release) => (release === null ? null : { hash: release.sha256, path: release.remotePath }),
  'ladder-run': (config) => (config.ladderPlan === undefined ? null : { plan: config.ladderPlan, options: config.ladderOptions }),
};

const SECRETS: Partial<Record<ConcernName, Readonly<Record<string, RigSecretName>>>> = {
  'redis-trio': { admin: 'redisAdminPassword', app: 'redisAppPassword', replica: 'redisReplicaPassword' },
};

/** All concerns of this rig, in the order in which they are applied. */
export function desiredState(config: RigConfig, sizing: RigSizing, release: ReleaseArchive | null): DesiredConcern[] {
  const desired = CONCERNS.flatMap((concern) => {
    const params = PARAMS[concern](config, sizing, release);
    return params === null ? [] : [{ concern, params, secrets: SECRETS[concern] ?? {} }];
  });
  const hash = configHash(desired);
  return desired.map((each) => (each.concern === 'ladder-run' ? { ...each, params: { ...each.params, configHash: hash } } : each));
}

/** Identity of a rig; runs on it carry it in their record. Secrets are no part of it, and neither is what is run. */
export function configHash(desired: readonly DesiredConcern[]): string {
  const canonical = desired
    .filter(({ concern }) => concern !== 'ladder-run')
    .map(({ concern, params }) => [
      concern,
      Object.keys(params)
        .sort()
        .map((key) => [key, params[key]]),
    ]);
  return createHash('sha256').update(JSON.stringify(canonical)).digest('hex').slice(0, 16);
}
