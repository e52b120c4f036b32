// What every resource of the rig must obey, as pure functions over its name, type and inputs. Tests feed them hand-built inputs and the whole
// program; pack.ts offers them to `pulumi preview --policy-pack`. They see finished inputs, so they do not trust infra/concern.ts, which makes them.
import { isLoopback } from '../config.js';
import { UPLOADS } from '../script-bundle.js';
import { WAIVERS } from './waivers.js';

export interface PolicyResource {
  readonly type: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export interface PolicyRule {
  readonly name: string;
  readonly description: string;
  /** Why this resource breaks the rule, in words for the person who wrote it; null when it does not. Never the value of a secret. */
  readonly broken: (resource: PolicyResource) => string | null;
}

const COMMAND = 'command:remote:Command';
const COPY = 'command:remote:CopyToRemote';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const forCommands =
  (broken: PolicyRule['broken']): PolicyRule['broken'] =>
  (resource) =>
    resource.type === COMMAND ? broken(resource) : null;

/** Every string that must stay out of sight: what came on stdin, and what opens the connection. A key is looked for line by line. */
function secretStrings({ inputs }: PolicyResource): string[] {
  const { privateKey, privateKeyPassword, password } = record(inputs['connection']);
  const lines = text(inputs['stdin'])
    .split('\n')
    .map((line) => line.slice(line.indexOf('=') + 1));
  const key = text(privateKey)
    .split('\n')
    .filter((line) => !line.startsWith('-----'));
  return [...lines, ...key, text(privateKeyPassword), text(password)].filter((value) => value.length >= 8);
}

export const RULES: readonly PolicyRule[] = [
  {
    name: 'command-has-delete',
    description: 'What a command does to the host, its delete takes back; a command that changes nothing says so in waivers.ts.',
    broken: forCommands(({ name, inputs }) =>
      text(inputs['delete']) !== '' || name in WAIVERS
        ? null
        : 'has no delete, and infra/policy/waivers.ts has no reason why it needs none',
    ),
  },
  {
    name: 'update-is-create',
    description: 'Scripts are convergent, so a change runs what creation runs.',
    broken: forCommands(({ inputs }) =>
      inputs['update'] === inputs['create'] ? null : 'update is not create: a change would run something else',
    ),
  },
  {
    name: 'host-key-pinned',
    description: 'Without a host key the provider trusts whoever answers. Only ssh-ed25519: the provider offers just the type it is given.',
    broken: ({ type, inputs }) => {
      if (type !== COMMAND && type !== COPY) return null;
      const { host, hostKey } = record(inputs['connection']);
      if (isLoopback(text(host)) && hostKey === undefined) return null;
      return text(hostKey).startsWith('ssh-ed25519 ') ? null : 'connection.hostKey is not the ssh-ed25519 key of the host';
    },
  },
  {
    name: 'no-environment',
    description: "sshd's AcceptEnv lets LANG and LC_* pass and nothing else: a variable is an error or is lost.",
    broken: forCommands(({ inputs }) =>
      inputs['environment'] === undefined ? null : 'sets environment; pass values as words or on stdin',
    ),
  },
  {
    name: 'no-previous-output',
    description: 'The output of the last run as an environment variable is refused by sshd, or too long.',
    broken: forCommands(({ inputs }) => (inputs['addPreviousOutputInEnv'] === false ? null : 'addPreviousOutputInEnv is not false')),
  },
  {
    name: 'no-secret-in-text',
    description: 'The text of a command is in the diff, in every error and in the process list of the host.',
    broken: (resource) => {
      const { connection: _, stdin: __, ...open } = resource.inputs;
      const shown = JSON.stringify(open);
      return secretStrings(resource).some((secret) => shown.includes(secret)) ? 'a secret of this resource is in its plain inputs' : null;
    },
  },
  {
    name: 'quiet-where-secret',
    description: 'A script that is told a secret may print it by mistake.',
    broken: forCommands(({ inputs }) =>
      inputs['stdin'] === undefined || inputs['logging'] === 'none' ? null : 'has stdin, and logging is not none',
    ),
  },
  {
    name: 'uploads-in-one-folder',
    description: 'The anchor removes one folder at the end; what lies elsewhere would stay on the host.',
    broken: ({ type, inputs }) => {
      const path = text(inputs['remotePath']);
      return type !== COPY || (path.startsWith(`${UPLOADS}/`) && !path.includes('..')) ? null : `remotePath is not below ${UPLOADS}`;
    },
  },
];

/** Every rule that this resource breaks, as `rule: name: why`. */
export function violations(resource: PolicyResource): string[] {
  return RULES.flatMap((rule) => {
    const why = rule.broken(resource);
    return why === null ? [] : [`${rule.name}: ${resource.name}: ${why}`];
  });
}
