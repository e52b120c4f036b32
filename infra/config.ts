// Reads the rig's config, checks it as a whole and fails with every problem at once, before any resource is registered. The core is pure: the
// doctor and the ladder feed it what `pulumi config --json` prints. Messages name keys and limits, and never the value of a secret.
import { EnvladderError } from '../harness/contract/errors.js';
import { RIG_KEYS, RIG_SECRETS, type RigConfig, type RigSecretName, rigSchema } from './config-schema.js';

/** A key as Pulumi stores it. */
export interface ConfigValue {
  readonly value: string;
  readonly secret: boolean;
}

export interface RigSettings {
  readonly config: RigConfig;
  readonly secrets: Readonly<Partial<Record<RigSecretName, string>>>;
}

const PREFIX = 'envladder:';
const GPU_FILES = ['nvidiaRunfile', 'nvidiaSha256', 'cudaRunfile', 'cudaSha256', 'cudnnArchive', 'cudnnSha256'] as const;
/** The project's own key too: what `pulumi config` adds for itself is none of ours. */
const isSecretName = (name: string): name is RigSecretName => (RIG_SECRETS as readonly string[]).includes(name);

/** True for the machine itself: there nobody can stand in between, so the host key may be left out. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A password that is one line of printable characters: it travels as a line of stdin and in an ACL file. */
function secretProblem(name: RigSecretName, value: string): string | null {
  if (name === 'privateKey') return value.includes('PRIVATE KEY-----') ? null : 'is not a private key in PEM or OpenSSH form';
  if (name === 'privateKeyPassword') return value.length > 0 ? null : 'is empty';
  return /^[A-Za-z0-9_.~-]{16,128}$/.test(value)
    ? null
    : 'must be 16 to 128 letters, digits, dots, dashes, underscores and tildes (try: openssl rand -hex 24)';
}

/** Rules between keys. */
function crossProblems(config: RigConfig, secrets: RigSettings['secrets']): string[] {
  const problems: string[] = [];
  const need = (key: string, given: unknown, why: string): void => {
    if (given === undefined) problems.push(`${PREFIX}${key} is missing: ${why}`);
  };
  if (!isLoopback(config.host)) {
    need(
      'hostKey',
      config.hostKey,
      `${config.host} is not loopback, and without its key anybody on the way could be it; take the line from the host's console: cat /etc/ssh/ssh_host_ed25519_key.pub`,
    );
  }
  if (secrets.privateKey === undefined && config.agentSocket === undefined) {
    problems.push(`${PREFIX}privateKey or ${PREFIX}agentSocket is missing: one of the two opens the connection`);
  }
  if (secrets.privateKeyPassword !== undefined) need('privateKey', secrets.privateKey, 'privateKeyPassword is set');
  if (config.redis) {
    for (const name of ['redisAdminPassword', 'redisAppPassword', 'redisReplicaPassword'] as const) {
      need(name, secrets[name], `redis is on (set it with --secret, or ${PREFIX}redis to false)`);
    }
    if (config.redisPort + config.redisReplicas > 65_535)
      problems.push(`${PREFIX}redisPort leaves no ports for ${config.redisReplicas} replicas above it`);
  }
  if (config.gpus > 0) for (const key of GPU_FILES) need(key, config[key], 'gpus is over 0');
  else
    for (const key of GPU_FILES)
      if (config[key] !== undefined) problems.push(`${PREFIX}${key} is set, but gpus is 0: none of it would be installed`);
  if (config.nodeArchive !== undefined) need('nodeSha256', config.nodeSha256, 'nodeArchive is set');
  if (config.release !== undefined) need('nodeArchive', config.nodeArchive, 'release is set, and it runs on Node');
  if (config.ladderPlan !== undefined) need('release', config.release, 'ladderPlan is set, and it runs the release');
  if (config.ladderOptions !== '') need('ladderPlan', config.ladderPlan, 'ladderOptions is set');
  if (config.threadsPerCore === 2 && config.cores % 2 !== 0)
    problems.push(`${PREFIX}cores is ${config.cores}, which is not even, but threadsPerCore is 2`);
  for (const [slice, override] of Object.entries(config.slices)) {
    const { memoryHighBytes: high, memoryMaxBytes: max } = override ?? {};
    if (high !== undefined && max !== undefined && high > max)
      problems.push(`${PREFIX}slices.${slice}.memoryHighBytes is over memoryMaxBytes`);
  }
  return problems;
}

/** The whole config from its raw values (keys with the project's prefix). Throws `bad-plan` that lists every problem. */
export function parseRigConfig(values: Readonly<Record<string, ConfigValue>>): RigSettings {
  const problems: string[] = [];
  const plain: Record<string, string> = {};
  const secrets: Partial<Record<RigSecretName, string>> = {};
  for (const [key, { value, secret }] of Object.entries(values)) {
    if (!key.startsWith(PREFIX)) continue;
    const name = key.slice(PREFIX.length);
    if (!isSecretName(name)) {
      if (name in RIG_KEYS) plain[name] = value;
      else problems.push(`${key} is unknown; docs/rig.md lists the keys`);
      continue;
    }
    secrets[name] = value;
    const problem = secret
      ? secretProblem(name, value)
      : 'was set in plain text: set it again with --secret, and change it, for it was readable';
    if (problem !== null) problems.push(`${key} ${problem}`);
  }
  const parsed = rigSchema.safeParse(plain);
  if (parsed.success) problems.push(...crossProblems(parsed.data, secrets));
  else
    for (const issue of parsed.error.issues) {
      const path = issue.path.join('.');
      problems.push(plain[String(issue.path[0])] === undefined ? `${PREFIX}${path} is missing` : `${PREFIX}${path}: ${issue.message}`);
    }
  if (!parsed.success || problems.length > 0) {
    throw new EnvladderError('bad-plan', `the rig's config cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, {
      detail: { problems },
    });
  }
  return { config: parsed.data, secrets };
}
