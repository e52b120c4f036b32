// The way to the host: one secret Output that every resource shares, so that a change of it is one change. `patient` is the same connection
// for the two resources that wait for a host (first contact, reboot); their custom timeout is what bounds them.
import type { types } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import type { RigSettings } from './config.js';

type ConnectionArgs = types.input.remote.ConnectionArgs;

export interface RigConnection {
  readonly usual: pulumi.Output<ConnectionArgs>;
  readonly patient: pulumi.Output<ConnectionArgs>;
  readonly user: string;
  /** Another value means another host: everything is reverted on the old one and applied on the new one. */
  readonly hostId: string;
}

/** Refused dials before a command gives up. The provider waits up to 5 s between two: about 5 minutes for a host that is restarting sshd. */
const USUAL_DIALS = 60;
const DIAL_TIMEOUT_S = 15;

/** The connection of these settings. A dead agent socket in the environment of the CLI is the reason why an agent is used only when named. */
export function rigConnection({ config, secrets }: RigSettings): RigConnection {
  const args = (dialErrorLimit: number): ConnectionArgs => ({
    host: config.host,
    port: config.port,
    user: config.user,
    dialErrorLimit,
    perDialTimeout: DIAL_TIMEOUT_S,
    ...(config.hostKey === undefined ? {} : { hostKey: config.hostKey.split(' ').slice(0, 2).join(' ') }),
    ...(config.agentSocket === undefined ? {} : { agentSocketPath: config.agentSocket }),
    ...(secrets.privateKey === undefined ? {} : { privateKey: secrets.privateKey }),
    ...(secrets.privateKeyPassword === undefined ? {} : { privateKeyPassword: secrets.privateKeyPassword }),
  });
  return {
    usual: pulumi.secret(args(USUAL_DIALS)),
    patient: pulumi.secret(args(-1)),
    user: config.user,
    hostId: config.hostId ?? `${config.host}:${config.port}`,
  };
}
