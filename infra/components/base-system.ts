// Packages, sysctls, limits; unattended upgrades fenced and the kernel held, so that the host of a week-long run stays the host that was tested.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class BaseSystem extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:BaseSystem', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 30, ...args });
    this.registerOutputs({});
  }
}
