// The CUDA toolkit and cuDNN beside the driver, found by the linker through one file.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern } from '../concern.js';

export class CudaToolkit extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:CudaToolkit', name, {}, options);
    this.applied = registerConcern(this, { timeoutMinutes: 120, ...args });
    this.registerOutputs({});
  }
}
