// Runs shellcheck over the project's shell scripts where it is installed (CI installs it) and says so where it is not: a newcomer's
// machine with Node and a compiler must pass `npm test` too.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every .sh file below `folder`, in order. */
function shellFilesOf(folder) {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.sh'));
  return names.sort().map((name) => join(folder, name));
}

const scripts = ['.ci/run', 'docs/ci/ladder.sh', ...shellFilesOf('infra/scripts'), ...shellFilesOf('test/rig')];
const run = spawnSync('shellcheck', ['--external-sources', ...scripts], { stdio: 'inherit' });
if (run.error?.code === 'ENOENT') {
  console.log(`SKIPPED(shellcheck is not installed) ${scripts.join(' ')}`);
} else {
  process.exit(run.status ?? 1);
}
