// A reboot, only when the concern before it asked the host for one; the wait for the new boot; and that concern once more, which does nothing when
// it was finished before. Runs again whenever the concern that may ask has changed.
import { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { applyText, type ConcernArgs, hostOptions, hostTriggers, registerConcern } from '../concern.js';
import type { DesiredConcern } from '../desired.js';
import { shellParams } from '../quote.js';
import { bundleScript, scriptCommand } from '../script-bundle.js';

/** Large servers check their memory before they boot: half an hour has been seen. */
const BOOT_MINUTES = 45;
const AGAIN_MINUTES = 90;

export interface RebootArgs extends ConcernArgs {
  readonly because: string;
  /** The concern that may have asked. Its own command, in front of this component, has the revert. */
  readonly asker: DesiredConcern;
}

export class Reboot extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: RebootArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:Reboot', name, {}, options);
    const { host, desired, because, asker } = args;
    const asked = registerConcern(this, args);
    const look = `: ${because}; ${scriptCommand(bundleScript(desired.concern), host.connection.user, `check ${shellParams(desired.params)}`)}`;
    const again = applyText({ host, desired: asker });
    const shared = { triggers: hostTriggers(host), addPreviousOutputInEnv: false, logging: remote.Logging.Stderr };
    const done = new remote.Command(
      'reboot-done',
      { connection: host.connection.patient, create: look, update: look, ...shared },
      hostOptions(this, host, [asked], BOOT_MINUTES),
    );
    this.applied = new remote.Command(
      `${asker.concern}-again`,
      { connection: host.connection.usual, create: again, update: again, ...shared },
      hostOptions(this, host, [done], AGAIN_MINUTES),
    );
    this.registerOutputs({});
  }
}
