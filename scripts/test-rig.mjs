// The rig's end-to-end tests: `npm run test:rig [NAME...]`. The real Pulumi CLI applies this repository's program to a real systemd and
// cgroup v2 machine in QEMU. Prepares both (cached; minutes on a new computer), says what is a stand-in, runs test/rig/**/*.rig.ts one file
// after the other and ends with the plain count. What this computer lacks makes cases SKIPPED with the reason, never passed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const EXIT_LACKING = 75;
const MEMORY_NEEDED = '2 GiB of memory and 3 GiB of disk while it runs';

/** Runs a setup script, which tells people on stderr what it does. Returns the path that it prints, or why there is none. */
function setUp(script) {
  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status === 0) return { path: stdout.trim() };
  if (status === EXIT_LACKING) return { lacking: stdout.trim() };
  console.error(`test:rig: ${script} failed, so nothing was tested`);
  process.exit(1);
}

/** What needs no machine says soonest that something is wrong; the first up leaves the rig that most others start from. */
const FIRST = ['engine.rig.ts', 'preview.rig.ts', 'first-up.rig.ts'];
const rank = (file) => (FIRST.includes(basename(file)) ? FIRST.indexOf(basename(file)) : FIRST.length);

function caseFiles(wanted) {
  return readdirSync(join(root, 'test/rig'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.rig.ts'))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => wanted.length === 0 || wanted.some((part) => basename(file).includes(part)))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const files = caseFiles(process.argv.slice(2));
if (files.length === 0) {
  console.error(`no rig test matches: ${process.argv.slice(2).join(' ')}`);
  process.exit(2);
}
const pulumi = setUp('setup-pulumi.mjs');
const image = setUp('setup-rig-vm.mjs');
const { engineParts } = await import(join(root, 'test/rig/engine-parts.mjs'));
const parts = pulumi.path ? engineParts(pulumi.path) : [];

console.log('Rig tests: the Pulumi program of this repository against a real engine and a real host.');
console.log(`  engine   ${pulumi.path ? `Pulumi CLI ${parts.version}` : `SKIPPED(${pulumi.lacking})`}`);
for (const { name, official } of parts.plugins ?? [])
  console.log(`  ${name.padEnd(16)} ${official ? 'official' : 'STAND-IN of test/rig/stand-ins (docs/rig-tests.md)'}`);
console.log(
  `  host     ${image.path ? 'Debian 12 in QEMU (emulated, systemd, cgroup v2)' : `SKIPPED(${image.lacking})`}; needs ${MEMORY_NEEDED}`,
);
console.log('  GPU      none: driver and toolkit files are small fakes of the fixture mirror, a contract test; no GPU was driven');
console.log(`  files    ${files.map((file) => relative('test/rig', file)).join(' ')}\n`);

const work = mkdtempSync(join(tmpdir(), 'envladder-rig-'));
mkdirSync(join(work, 'tmp'));
const environment = {
  NODE_ENV: 'test',
  TMPDIR: join(work, 'tmp'),
  RIG_TEST_WORK: work,
  RIG_TEST_PULUMI: pulumi.path ?? '',
  RIG_TEST_IMAGE: image.path ?? '',
  RIG_TEST_LACKING: pulumi.lacking ?? image.lacking ?? '',
};
const reporter = join(root, 'scripts/test-reporter.mjs');
const child = spawn(process.execPath, ['--import', 'tsx', '--test', '--test-concurrency=1', `--test-reporter=${reporter}`, ...files], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, ...environment },
});
/** Machines that a killed test file left behind; each wrote its process id into a folder of this run. */
function stopMachines() {
  for (const name of readdirSync(work).filter((entry) => entry.startsWith('vm-'))) {
    spawnSync('bash', [join(root, 'test/rig/vm.sh'), 'stop', join(work, name)], { stdio: 'ignore' });
  }
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  stopMachines();
  rmSync(work, { recursive: true, force: true });
  process.exit(signal ? 1 : (code ?? 1));
});
