// The NVIDIA driver of one exact version from its .run file, with nouveau and the distribution's own driver packages kept away. A nouveau
// that will not let go of the GPU needs a reboot first: components/reboot.ts finishes what this one began.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class NvidiaDriver extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:NvidiaDriver', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 90, mayNeedReboot: true, ...args });
    this.registerOutputs({});
  }
}
