// Registers one concern of the rig: its script as an uploaded file and one remote command that applies it, applies it again on a change and
// reverts it on delete. Every rule about commands over SSH is kept here, once; infra/policy checks the outcome from outside.
import { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import type { ConcernName } from './concern-names.js';
import type { RigSecretName } from './config-schema.js';
import type { RigConnection } from './connection.js';
import type { DesiredConcern } from './desired.js';
import { shellParams, stdinLines } from './quote.js';
import { bundleScript, scriptCommand } from './script-bundle.js';

/** What all concerns of one rig share. */
export interface RigHost {
  readonly connection: RigConnection;
  readonly secrets: Readonly<Partial<Record<RigSecretName, string>>>;
  /** Concern -> a word; another word applies it again though nothing else changed: how an `up` mends what somebody did by hand. */
  readonly repair: Readonly<Partial<Record<ConcernName, string>>>;
  /** The host is gone for good: resources leave the stack without a word to it. */
  readonly gone: boolean;
  /** The command whose delete comes last; null only while it is being made. */
  readonly anchor: remote.Command | null;
}

export interface ConcernArgs {
  readonly host: RigHost;
  readonly desired: DesiredConcern;
  /** What must have been applied before; reverts go the other way. */
  readonly after: readonly pulumi.Resource[];
  /** The engine gives up waiting then; the script bounds its own steps and is far below it. */
  readonly timeoutMinutes?: number;
  /** Words whose change must run the script again though its parameters stay the same. */
  readonly because?: string;
  /** A script that ends with "a reboot is needed first" is no failure: the reboot comes after it, and applies it again. */
  readonly mayNeedReboot?: boolean;
}

/** Exit code of a script that can go on only after a reboot. */
const NEEDS_REBOOT = 79;

const SHARED_FIELDS = ['create', 'update', 'delete', 'stdin', 'connection', 'triggers', 'source', 'remotePath', 'logging'];

/** Options of every resource on the host. Another host is delete there, then create here: an update would leave the old host as it is. */
export function hostOptions(
  component: pulumi.ComponentResource,
  host: RigHost,
  after: readonly pulumi.Resource[],
  minutes = 30,
): pulumi.CustomResourceOptions {
  const timeout = `${minutes}m`;
  return {
    parent: component,
    dependsOn: [...after],
    deleteBeforeReplace: true,
    customTimeouts: { create: timeout, update: timeout, delete: timeout },
    ...(host.gone ? { retainOnDelete: true, ignoreChanges: SHARED_FIELDS } : {}),
  };
}

/** The anchor's id is among them because its replacement must take all others along, in the right order: they revert while their scripts exist. */
export function hostTriggers(host: RigHost): pulumi.Input<string>[] {
  return host.anchor === null ? [host.connection.hostId] : [host.connection.hostId, host.anchor.id];
}

/** Puts one file on the host. Nothing is removed on delete: the anchor removes the folder of all uploads. */
export function upload(
  name: string,
  component: pulumi.ComponentResource,
  host: RigHost,
  after: readonly pulumi.Resource[],
  file: { readonly source: pulumi.asset.Asset; readonly remotePath: string },
): remote.CopyToRemote {
  return new remote.CopyToRemote(
    name,
    { connection: host.connection.usual, source: file.source, remotePath: file.remotePath, triggers: hostTriggers(host) },
    hostOptions(component, host, after),
  );
}

/** The text that applies a concern, with the reasons why it runs again in front. */
export function applyText({ host, desired, because }: Pick<ConcernArgs, 'host' | 'desired' | 'because'>): string {
  const repair = host.repair[desired.concern];
  const reasons = [because, repair === undefined ? undefined : `repair ${repair}`].filter((reason) => reason !== undefined);
  const apply = scriptCommand(bundleScript(desired.concern), host.connection.user, `apply ${shellParams(desired.params)}`);
  return `${reasons.map((reason) => `: ${reason}; `).join('')}${apply}`;
}

/** Registers upload and command; the command is what later concerns wait for. Uploads wait too, so SSH sessions stay few (MaxStartups). */
export function registerConcern(component: pulumi.ComponentResource, args: ConcernArgs): remote.Command {
  const { host, desired, after, timeoutMinutes, mayNeedReboot } = args;
  const { concern, secrets } = desired;
  const bundle = bundleScript(concern);
  const script = upload(`${concern}-script`, component, host, after, {
    source: new pulumi.asset.StringAsset(bundle.text),
    remotePath: bundle.remotePath,
  });
  const apply = `${applyText(args)}${mayNeedReboot === true ? ` || test $? = ${NEEDS_REBOOT}` : ''}`;
  const values = Object.fromEntries(Object.entries(secrets).map(([name, key]) => [name, host.secrets[key] ?? '']));
  const hasSecrets = Object.keys(values).length > 0;
  return new remote.Command(
    concern,
    {
      connection: host.connection.usual,
      create: apply,
      update: apply,
      delete: scriptCommand(bundle, host.connection.user, 'revert'),
      triggers: hostTriggers(host),
      addPreviousOutputInEnv: false,
      // A script's words for people; its JSON line is in the state.
      logging: hasSecrets ? remote.Logging.None : remote.Logging.Stderr,
      ...(hasSecrets ? { stdin: pulumi.secret(stdinLines(values)) } : {}),
    },
    {
      ...hostOptions(component, host, [...after, script], timeoutMinutes),
      ...(hasSecrets ? { additionalSecretOutputs: ['stdout', 'stderr'] } : {}),
    },
  );
}
