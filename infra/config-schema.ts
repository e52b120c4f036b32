// What one rig is, as its config says it: the keys, their types, defaults and bounds. Pulumi hands every value over as text; objects are JSON.
// Written by people with `pulumi config set`, read by config.ts. docs/rig.md lists the same keys for people; a test compares the two.
import { z } from 'zod';
import { MAX_ENVS } from '../harness/contract/limits.js';
import { CONCERNS } from './concern-names.js';
import { RIG_SLICES } from './sizing.js';

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256: 64 hexadecimal digits in lower case');
/** Where a large file is: the host fetches it itself, so a path is one on the host. */
const source = z.string().regex(/^(https?:\/\/[^\s'"\\]+|\/[^\s'"\\]+)$/, 'must be an http(s) URL or an absolute path on the host');
const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'must be JSON: set it with pulumi config set --path' });
        return z.NEVER;
      }
    })
    .pipe(schema);

const weight = z.number().int().min(1).max(10_000);
const bytes = z
  .number()
  .int()
  .min(0)
  .max(2 ** 46);
const sliceOverride = z.strictObject({
  cpus: z
    .string()
    .regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/, 'must be a list of CPUs as in 0-3,8')
    .optional(),
  cpuWeight: weight.optional(),
  ioWeight: weight.optional(),
  memoryLowBytes: bytes.optional(),
  memoryHighBytes: bytes.min(2 ** 24).optional(),
  memoryMaxBytes: bytes.min(2 ** 24).optional(),
  tasksMax: z.number().int().min(16).max(4_194_304).optional(),
});

/** Debian's rule for names of packages. */
const packageName = /^[a-z0-9][a-z0-9+.-]+$/;

export const RIG_KEYS = {
  // The host and the way to it.
  host: z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.:_-]{0,252}[A-Za-z0-9])?$/, 'must be a host name or an address'),
  hostId: z
    .string()
    .regex(/^[A-Za-z0-9._:-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes, colons')
    .optional(),
  port: whole(1, 65_535).default(22),
  user: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'must be the name of a user')
    .default('root'),
  hostKey: z
    .string()
    .regex(
      /^ssh-ed25519 [A-Za-z0-9+/]{60,80}={0,2}( \S+)?$/,
      'must be the ssh-ed25519 line of the host, as `ssh-keyscan -t ed25519 HOST` prints it after the name',
    )
    .optional(),
  agentSocket: z.string().startsWith('/', 'must be an absolute path').optional(),
  hostWaitS: whole(10, 7_200).default(1_200),
  hostGone: flag.default(false),
  repair: json(
    z.partialRecord(
      z.enum(CONCERNS),
      z.union([
        z.number().int().transform(String),
        z.string().regex(/^[A-Za-z0-9:._-]{1,40}$/, 'must be a word of up to 40 letters, digits, dots, dashes and colons'),
      ]),
    ),
  ).default({}),
  // Its size and its load.
  cores: whole(1, 8_192),
  threadsPerCore: whole(1, 2).default(1),
  ramMb: whole(512, 67_108_864),
  gpus: whole(0, 64).default(0),
  minDiskMb: whole(256, 1_073_741_824).default(2_048),
  envs: whole(1, MAX_ENVS),
  obsBytes: whole(1, 2 ** 31),
  cells: whole(2, 256).default(2),
  envBytes: whole(0, 2 ** 40).default(2_048),
  slices: json(z.strictObject(Object.fromEntries(RIG_SLICES.map((slice) => [slice, sliceOverride.optional()])))).default({}),
  ioMaxMbsWorkers: whole(0, 100_000).default(0),
  // The system.
  packages: json(z.array(z.string().regex(packageName, 'must be names of packages')).max(64)).default([]),
  kernelHold: flag.default(true),
  sysctls: json(
    z.record(
      z.string().regex(/^[a-z0-9_]+(\.[a-z0-9_/-]+)+$/, 'must be sysctl names'),
      z.union([
        z.number().int().transform(String),
        z.string().regex(/^[A-Za-z0-9_. -]{1,128}$/, 'must be a short value of letters, digits, dots, dashes and spaces'),
      ]),
    ),
  ).default({}),
  serviceUid: whole(100, 999).default(610),
  // GPU.
  nvidiaVersion: z
    .string()
    .regex(/^\d{3}\.\d{1,3}(\.\d{1,3})?$/, 'must be a driver version as in 525.85.12')
    .default('525.85.12'),
  nvidiaRunfile: source.optional(),
  nvidiaSha256: sha256.optional(),
  cudaVersion: z
    .string()
    .regex(/^\d{2}\.\d{1,2}$/, 'must be a toolkit version as in 11.8')
    .default('11.8'),
  cudaRunfile: source.optional(),
  cudaSha256: sha256.optional(),
  cudnnArchive: source.optional(),
  cudnnSha256: sha256.optional(),
  allowReboot: flag.default(true),
  // Redis.
  redis: flag.default(true),
  redisPort: whole(1_024, 65_000).default(6_379),
  redisReplicas: whole(0, 8).default(2),
  redisMaxmemoryMb: whole(16, 1_048_576).optional(),
  // The janitor of shared memory.
  janitorPrefix: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{2,31}$/, 'must be 3 to 32 letters, digits, dots and dashes')
    .default('envladder-'),
  janitorMinAgeS: whole(0, 2_592_000).default(3_600),
  // envladder itself.
  nodeVersion: z
    .string()
    .regex(/^2[02]\.\d{1,3}\.\d{1,3}$/, 'must be a version of Node 20 or 22')
    .default('20.20.2'),
  nodeArchive: source.optional(),
  nodeSha256: sha256.optional(),
  release: z.string().min(1).optional(),
  ladderPlan: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be the name of a plan in the release, as in smoke')
    .optional(),
  ladderOptions: z
    .string()
    .regex(/^([A-Za-z0-9=._,:%/<>+-]+( [A-Za-z0-9=._,:%/<>+-]+){0,31})?$/, 'must be options of envladder ladder, as in --seconds 5')
    .default(''),
} as const;

/** Keys whose values are set with `pulumi config set --secret` and never appear in a command, an output or a message. */
export const RIG_SECRETS = ['privateKey', 'privateKeyPassword', 'redisAdminPassword', 'redisAppPassword', 'redisReplicaPassword'] as const;
export type RigSecretName = (typeof RIG_SECRETS)[number];

export const rigSchema = z.strictObject(RIG_KEYS);
export type RigConfig = z.output<typeof rigSchema>;
