// Runs shellcheck over the project's shell scripts where it is installed (CI installs it) and says so where it is not: a newcomer's
// machine with Node and a compiler must pass `npm test` too.
import { spawnSync } from 'node:child_process';

const scripts = ['.ci/run', 'docs/ci/ladder.sh'];
const run = spawnSync('shellcheck', scripts, { stdio: 'inherit' });
if (run.error?.code === 'ENOENT') {
  console.log(`SKIPPED(shellcheck is not installed) ${scripts.join(' ')}`);
} else {
  process.exit(run.status ?? 1);
}
