// A reboot, only when a concern before it asked the host for one, and the wait for the new boot. Runs again whenever the concern that may ask has
// changed; a host that needs none answers at once.
import { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, hostOptions, hostTriggers, registerConcern } from '../concern.js';
import { shellParams } from '../quote.js';
import { bundleScript, scriptCommand } from '../script-bundle.js';

/** Large servers check their memory before they boot: half an hour has been seen. */
const BOOT_MINUTES = 45;

export class Reboot extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs & { readonly because: string }, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:Reboot', name, {}, options);
    const { host, desired, because } = args;
    const asked = registerConcern(this, args);
    const look = `: ${because}; ${scriptCommand(bundleScript(desired.concern), host.connection.user, `check ${shellParams(desired.params)}`)}`;
    this.applied = new remote.Command(
      'reboot-done',
      {
        connection: host.connection.patient,
        create: look,
        update: look,
        triggers: hostTriggers(host),
        addPreviousOutputInEnv: false,
        logging: remote.Logging.Stderr,
      },
      hostOptions(this, host, [asked], BOOT_MINUTES),
    );
    this.registerOutputs({});
  }
}
