// Node of one exact version under /opt, switched by a link.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class NodeRuntime extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:NodeRuntime', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 30, ...args });
    this.registerOutputs({});
  }
}
