// One Redis primary and its replicas on loopback, with a user per role. Passwords travel on the script's stdin only.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class RedisTrio extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:RedisTrio', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 30, ...args });
    this.registerOutputs({});
  }
}
