// envladder itself: the archive of `npm run rig:pack` goes to the host, is unpacked beside earlier releases, verified and switched to by a link.
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { type ConcernArgs, registerConcern, upload } from '../concern.js';
import type { LocalRelease } from '../settings.js';

export class EnvladderRelease extends pulumi.ComponentResource {
  readonly applied: remote.Command;

  constructor(name: string, args: ConcernArgs & { readonly release: LocalRelease }, options?: pulumi.ComponentResourceOptions) {
    super('envladder:rig:EnvladderRelease', name, {}, options);
    const { host, after, release } = args;
    // A file's content decides whether it is copied again; its path on this machine is not compared.
    const archive = upload('envladder-release-archive', this, host, after, {
      source: new pulumi.asset.FileAsset(release.localPath),
      remotePath: release.remotePath,
    });
    this.applied = registerConcern(this, { timeoutMinutes: 30, ...args, after: [...after, archive] });
    this.registerOutputs({});
  }
}
