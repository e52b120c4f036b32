// `npm run rig:pack`: one archive of envladder for the rig, with its description as JSON beside it and on stdout.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { EnvladderError } from '../../harness/contract/errors.js';
import { EXIT } from '../../harness/contract/exit-codes.js';
import { packRelease } from '../release-archive.js';
import { runCli } from './run-cli.js';

const HELP = `usage: npm run rig:pack -- [--out FOLDER]

Packs this clone for the rig: the npm package, its production dependencies as installed here, and the addon.
Writes FOLDER/envladder-VERSION-HASH.tar.gz and the same name with .json (default folder: build/release).
`;

await runCli(HELP, () => {
  const root = join(import.meta.dirname, '..', '..');
  const { values } = parseArgs({ options: { out: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return EXIT.good;
  }
  if (values.out === '') throw new EnvladderError('bad-usage', '--out needs a folder');
  const release = packRelease(root, resolve(values.out ?? join(root, 'build', 'release')));
  process.stdout.write(`${JSON.stringify(release, null, 2)}\n`);
  process.stderr.write(
    `packed ${release.files} files, ${(release.archive_bytes / 2 ** 20).toFixed(1)} MiB; addons need glibc ${release.glibc} and GLIBCXX ${release.glibcxx} at the most\n`,
  );
  return EXIT.good;
});
