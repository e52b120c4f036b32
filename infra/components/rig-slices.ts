// envladder.slice with its four slices, the system user of the ladders and the service whose cgroups are delegated to the supervisor.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class RigSlices extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:RigSlices', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 15, ...args });
    this.registerOutputs({});
  }
}
