// The timer that removes shared memory whose owner is provably dead.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class ShmJanitor extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:ShmJanitor', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 15, ...args });
    this.registerOutputs({});
  }
}
