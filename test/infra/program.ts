// Runs the whole Pulumi program against a recording stand-in for the engine: no CLI, no plugin, no host. Tests get every resource as the engine
// would be told of it: inputs (secrets unwrapped, their names kept), parent, what it depends on, options.
import * as pulumi from '@pulumi/pulumi';
import type { ConfigValue } from '../../infra/config.js';

export interface RecordedResource {
  readonly name: string;
  readonly type: string;
  readonly parent: string | null;
  readonly dependsOn: readonly string[];
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly secretInputs: readonly string[];
  readonly deleteBeforeReplace: boolean;
  readonly retainOnDelete: boolean;
  readonly ignoreChanges: readonly string[];
  readonly deletedWith: string | null;
  readonly timeouts: { readonly create: string; readonly update: string; readonly delete: string };
  readonly additionalSecretOutputs: readonly string[];
}

export interface RecordedProgram {
  readonly resources: readonly RecordedResource[];
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What the program threw, or null. */
  readonly error: unknown;
}

/** The parts of the engine's request that mocks do not hand on. */
interface RegisterRequest {
  getName(): string;
  getParent(): string;
  getDependenciesList(): string[];
  getDeletebeforereplace(): boolean;
  getRetainondelete(): boolean;
  getIgnorechangesList(): string[];
  getDeletedwith(): string;
  getAdditionalsecretoutputsList(): string[];
  getCustomtimeouts(): { getCreate(): string; getUpdate(): string; getDelete(): string } | undefined;
}
interface Monitor {
  registerResource(request: RegisterRequest, callback: unknown): Promise<void>;
}

const SIGNATURE = '4dabf18193072939515e22adb298388d';
const SECRET = '1b47061264138c4ac30d75fd1eb44270';
const KEY_LINE = `ssh-ed25519 ${'A'.repeat(68)}`;

/** A rig without GPUs that has everything but a release. */
export const SMALL_RIG: Readonly<Record<string, ConfigValue>> = {
  'envladder:host': { value: 'rig.example', secret: false },
  'envladder:user': { value: 'ubuntu', secret: false },
  'envladder:hostKey': { value: KEY_LINE, secret: false },
  'envladder:privateKey': {
    value: '-----BEGIN OPENSSH PRIVATE KEY-----\nnobody-sees-this-key\n-----END OPENSSH PRIVATE KEY-----\n',
    secret: true,
  },
  'envladder:cores': { value: '2', secret: false },
  'envladder:ramMb': { value: '4096', secret: false },
  'envladder:envs': { value: '256', secret: false },
  'envladder:obsBytes': { value: '16', secret: false },
  'envladder:redisAdminPassword': { value: 'nobody-sees-admin-password', secret: true },
  'envladder:redisAppPassword': { value: 'nobody-sees-app-password', secret: true },
  'envladder:redisReplicaPassword': { value: 'nobody-sees-replica-password', secret: true },
  'envladder:nodeArchive': { value: '/srv/mirror/node.tar.gz', secret: false },
  'envladder:nodeSha256': { value: '1'.repeat(64), secret: false },
};

const FILE = 'https://mirror.example/file.run';
/** Keys that a GPU rig has besides. */
export const GPU_KEYS: Readonly<Record<string, ConfigValue>> = Object.fromEntries(
  Object.entries({
    gpus: '4',
    cores: '256',
    threadsPerCore: '2',
    ramMb: '1048576',
    envs: '7000',
    obsBytes: '602112',
    nvidiaRunfile: FILE,
    cudaRunfile: FILE,
    cudnnArchive: FILE,
  })
    .concat(['nvidiaSha256', 'cudaSha256', 'cudnnSha256'].map((key) => [key, '2'.repeat(64)]))
    .map(([key, value]) => [`envladder:${key}`, { value, secret: false }]),
);

/** Some keys set, changed or (null) taken away. */
export function withKeys(
  base: Readonly<Record<string, ConfigValue>>,
  keys: Readonly<Record<string, string | null>>,
): Record<string, ConfigValue> {
  const result: Record<string, ConfigValue> = { ...base };
  for (const [key, value] of Object.entries(keys)) {
    if (value === null) delete result[`envladder:${key}`];
    else result[`envladder:${key}`] = { value, secret: base[`envladder:${key}`]?.secret ?? false };
  }
  return result;
}

/** Secrets cross the wire wrapped; says where one was. */
function unwrap(value: unknown, found: () => void): unknown {
  if (Array.isArray(value)) return value.map((each) => unwrap(each, found));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  if (record[SIGNATURE] === SECRET) {
    found();
    return unwrap(record['value'], found);
  }
  return Object.fromEntries(Object.entries(record).map(([key, each]) => [key, unwrap(each, found)]));
}

const nameOf = (urn: string): string => urn.split('::').at(-1) ?? urn;
let runs = 0;

/** One run of infra/index.ts with this config. */
export async function runProgram(config: Readonly<Record<string, ConfigValue>>): Promise<RecordedProgram> {
  const resources: RecordedResource[] = [];
  const pending = new Map<string, pulumi.runtime.MockResourceArgs>();
  await pulumi.runtime.setMocks(
    {
      newResource: (args) => {
        pending.set(args.name, args);
        return { id: `${args.name}-id`, state: args.inputs };
      },
      call: () => ({}),
    },
    'envladder',
    'test',
    false,
  );
  pulumi.runtime.setAllConfig(
    Object.fromEntries(Object.entries(config).map(([key, { value }]) => [key, value])),
    Object.keys(config).filter((key) => config[key]?.secret),
  );
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = async (request, callback) => {
    await register(request, callback);
    const args = pending.get(request.getName());
    if (args === undefined) throw new Error(`${request.getName()} was registered without its inputs`);
    const secretInputs = new Set<string>();
    const inputs: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(args.inputs as object)) {
      inputs[key] = value instanceof pulumi.asset.StringAsset ? { text: await value.text } : unwrap(value, () => secretInputs.add(key));
    }
    const timeouts = request.getCustomtimeouts();
    resources.push({
      name: args.name,
      type: args.type,
      parent: request.getParent() === '' ? null : nameOf(request.getParent()),
      dependsOn: request.getDependenciesList().map(nameOf).sort(),
      inputs,
      secretInputs: [...secretInputs],
      deleteBeforeReplace: request.getDeletebeforereplace(),
      retainOnDelete: request.getRetainondelete(),
      ignoreChanges: request.getIgnorechangesList(),
      deletedWith: request.getDeletedwith() === '' ? null : nameOf(request.getDeletedwith()),
      timeouts: { create: timeouts?.getCreate() ?? '', update: timeouts?.getUpdate() ?? '', delete: timeouts?.getDelete() ?? '' },
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
    });
  };
  try {
    // A module runs once; another query is another module.
    const outputs = (await import(`../../infra/index.js?run=${runs++}`)) as Record<string, unknown>;
    return { resources, outputs, error: null };
  } catch (error) {
    return { resources, outputs: {}, error };
  } finally {
    await pulumi.runtime.disconnect();
  }
}
