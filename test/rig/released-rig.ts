// The rig with Node and the release of this tree on it, for cases that run envladder there. Made once per case: a release is packed from dist.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workFolder } from './machine.js';
import { mustRun, provisionedRig, type Rig, type Scope } from './rig.js';
import { runOrThrow } from './run-process.js';
import { REPOSITORY, resourceCounts } from './stack.js';

const MIRROR = '/srv/mirror';

/** The Node that runs these tests, packed as the official tarballs are: one folder with bin/node in it. Returns its SHA-256. */
async function packNode(archive: string): Promise<string> {
  await runOrThrow('tar', ['-C', dirname(dirname(process.execPath)), '--transform', 's,^,node/,', '-czhf', archive, 'bin/node']);
  return createHash('sha256').update(readFileSync(archive)).digest('hex');
}

/** `values`: more of the stack's config. Throws when the `up` fails. */
export async function releasedRig(t: Scope, values: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const rig = await provisionedRig(t);
  const archive = join(workFolder(), 'node.tar.gz');
  const nodeSha256 = await packNode(archive);
  await rig.machine.put(archive, `${MIRROR}/node.tar.gz`);
  const packed = JSON.parse(await runOrThrow('npm', ['run', '--silent', 'rig:pack', '--', '--out', workFolder()], { cwd: REPOSITORY })) as {
    archive: string;
  };
  const node = { nodeArchive: `${MIRROR}/node.tar.gz`, nodeSha256, nodeVersion: process.versions.node };
  await rig.stack.setConfig({ ...node, release: packed.archive, ...values });
  const counts = resourceCounts(await mustRun(rig.stack, ['up', '--skip-preview']));
  if (counts['errored'] !== undefined) throw new Error(`the up left ${counts['errored']} errors`);
  return rig;
}
