// Registers the components of a rig, one after the other in the order of the desired state: each waits for the one before it, so reverts go
// backwards and no two scripts work on the host at once.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { remote } from '@pulumi/command';
import * as pulumi from '@pulumi/pulumi';
import { BaseSystem } from './components/base-system.js';
import { CudaToolkit } from './components/cuda-toolkit.js';
import { EnvladderRelease } from './components/envladder-release.js';
import { HostReady } from './components/host-ready.js';
import { LadderRun } from './components/ladder-run.js';
import { NodeRuntime } from './components/node-runtime.js';
import { NvidiaDriver } from './components/nvidia-driver.js';
import { Reboot } from './components/reboot.js';
import { RedisTrio } from './components/redis-trio.js';
import { RigSlices } from './components/rig-slices.js';
import { ShmJanitor } from './components/shm-janitor.js';
import type { ConcernArgs, RigHost } from './concern.js';
import type { ConcernName } from './concern-names.js';
import type { RigSettings } from './config.js';
import { rigConnection } from './connection.js';
import { configHash, type DesiredConcern } from './desired.js';
import { bundleScript } from './script-bundle.js';
import type { LocalRelease } from './settings.js';

interface Applied {
  readonly applied: remote.Command;
}

interface Rest {
  readonly settings: RigSettings;
  readonly release: LocalRelease | null;
  readonly desired: readonly DesiredConcern[];
}

/** Changes with the parameters and the script of these concerns. */
function fingerprint(desired: readonly DesiredConcern[], names: readonly ConcernName[]): string {
  const some = desired.filter(({ concern }) => names.includes(concern));
  const texts = some.map(({ concern }) => bundleScript(concern).remotePath);
  return createHash('sha256')
    .update([configHash(some), ...texts].join('\n'))
    .digest('hex')
    .slice(0, 12);
}

const COMPONENTS: { readonly [C in ConcernName]: (args: ConcernArgs, rest: Rest) => Applied } = {
  'host-ready': (args, { settings }) => new HostReady('host-ready', { ...args, waitS: settings.config.hostWaitS }),
  'base-system': (args) => new BaseSystem('base-system', args),
  'nvidia-driver': (args) => new NvidiaDriver('nvidia-driver', args),
  reboot: (args, { desired }) => {
    const asker = desired.find(({ concern }) => concern === 'nvidia-driver');
    assert(asker !== undefined, 'a reboot without a concern that may ask for one');
    return new Reboot('reboot', { ...args, asker, because: `driver ${fingerprint(desired, [asker.concern])}` });
  },
  'cuda-toolkit': (args) => new CudaToolkit('cuda-toolkit', args),
  'rig-slices': (args) => new RigSlices('rig-slices', args),
  'redis-trio': (args) => new RedisTrio('redis-trio', args),
  'shm-janitor': (args) => new ShmJanitor('shm-janitor', args),
  'node-runtime': (args) => new NodeRuntime('node-runtime', args),
  'envladder-release': (args, { release }) => new EnvladderRelease('envladder-release', { ...args, release: release as LocalRelease }),
  'ladder-run': (args, { desired }) =>
    new LadderRun('ladder-run', {
      ...args,
      because: `rig ${fingerprint(desired, ['rig-slices', 'redis-trio', 'node-runtime', 'envladder-release'])}`,
    }),
};

/** Registers everything. The first concern is the anchor that the others hang on. */
export function standUpRig(settings: RigSettings, desired: readonly DesiredConcern[], release: LocalRelease | null): void {
  const { config, secrets } = settings;
  if (config.hostGone) {
    void pulumi.log.warn(
      'envladder:hostGone is true: nothing is changed on the host, and destroy leaves it as it is. Take the key away for a host that lives.',
    );
  }
  let host: RigHost = { connection: rigConnection(settings), secrets, repair: config.repair, gone: config.hostGone, anchor: null };
  let last: readonly remote.Command[] = [];
  for (const each of desired) {
    const { applied } = COMPONENTS[each.concern]({ host, desired: each, after: last }, { settings, release, desired });
    if (host.anchor === null) host = { ...host, anchor: applied };
    last = [applied];
  }
}
