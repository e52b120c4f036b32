// Which release the config means, for tools that do not deploy it. The archive may not be on this machine: then it is the one that the last
// `pulumi up` put there.
import type { RigOutput } from '../harness/contract/rig-output.js';
import type { ReleaseArchive } from './desired.js';
import { localRelease } from './settings.js';

/** `path`: envladder:release of the config. */
export function releaseForChecks(path: string | undefined, output: RigOutput): ReleaseArchive | null {
  if (path === undefined) return null;
  try {
    return localRelease(path);
  } catch {
    const params = output.concerns.find(({ concern }) => concern === 'envladder-release')?.params;
    return params === undefined ? null : { sha256: params['hash'] ?? '', remotePath: params['path'] ?? '' };
  }
}
