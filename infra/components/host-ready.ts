// First contact with the host, and the last: waits until SSH answers, then checks that this host can become a rig. The command is the anchor of
// everything else; its delete runs when all others are gone and takes the uploaded scripts and the folder of before-values along.
import { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, hostOptions, hostTriggers, registerConcern } from '../concern.js';
import { shellQuote } from '../quote.js';

/** Fails at once, and in words, where every later command would say only `sudo: a password is required`. */
function firstWords(user: string): string {
  if (user === 'root') return 'true';
  const words = `envladder: sudo on this host asks ${user} for a password; log in as root, or allow it in /etc/sudoers.d: ${user} ALL=(ALL) NOPASSWD: ALL`;
  return `sudo -n true || { echo ${shellQuote(words)} >&2; exit 75; }`;
}

export class HostReady extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs & { readonly waitS: number }, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:HostReady', name, {}, options);
    const { host, after, waitS } = args;
    const first = firstWords(host.connection.user);
    const reachable = new remote.Command(
      'host-reachable',
      {
        connection: host.connection.patient,
        create: first,
        update: first,
        triggers: hostTriggers(host),
        addPreviousOutputInEnv: false,
        logging: remote.Logging.Stderr,
      },
      { ...hostOptions(this, host, after), customTimeouts: { create: `${waitS}s`, update: `${waitS}s` } },
    );
    this.applied = registerConcern(this, { ...args, after: [...after, reachable] });
    this.registerOutputs({});
  }
}
