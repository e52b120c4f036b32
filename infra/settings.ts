// The impure end of the config: what Pulumi handed to this process, and the archive the config points at. Everything it finds out goes through
// parseRigConfig, so that a preview with a wrong key registers nothing.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as pulumi from '@pulumi/pulumi';
import { EnvladderError } from '../harness/contract/errors.js';
import { parseRigConfig, type RigSettings } from './config.js';
import type { ReleaseArchive } from './desired.js';
import { UPLOADS } from './script-bundle.js';

/** Left out of the SDK's types, and the only way to learn that a key was set without --secret. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

/** The settings of the stack that runs. */
export function readSettings(): RigSettings {
  const values = Object.entries(pulumi.runtime.allConfig());
  return parseRigConfig(Object.fromEntries(values.map(([key, value]) => [key, { value, secret: isConfigSecret(key) }])));
}

export interface LocalRelease extends ReleaseArchive {
  readonly localPath: string;
}

/** The archive of `envladder:release`, found from the project's root and named by its content; null when the config has none. */
export function localRelease(path: string | undefined, root = resolve(import.meta.dirname, '..')): LocalRelease | null {
  if (path === undefined) return null;
  const localPath = resolve(root, path);
  let content: Buffer;
  try {
    content = readFileSync(localPath);
  } catch (cause) {
    throw new EnvladderError('bad-plan', `envladder:release points at ${path}, which cannot be read; make it with npm run rig:pack`, {
      cause,
    });
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { sha256, localPath, remotePath: `${UPLOADS}/release-${sha256.slice(0, 16)}.tgz` };
}
