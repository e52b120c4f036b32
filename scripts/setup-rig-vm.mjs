// Makes the machine that the rig tests provision: a Debian 12 image and a snapshot of it, booted and idle, under the user's cache. Once per
// computer (5 minutes on two cores); the snapshot's format depends on QEMU's version, so that is part of the key, like the script that
// describes the machine. Prints the folder, progress goes to stderr; ends with 75 when this computer cannot have it.
// Usage: node scripts/setup-rig-vm.mjs [--print]   (--print builds nothing; prints the folder or nothing)
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buildOnce, cacheRoot, EXIT_LACKING, runSetup, SetupError } from './cached-build.mjs';

const SCRIPT = join(import.meta.dirname, '..', 'test', 'rig', 'vm.sh');
const TOOLS = ['debootstrap', 'qemu-system-x86_64', 'qemu-img', 'mkfs.ext4', 'ssh', 'ssh-keygen'];
const NEEDED_BYTES = 6 * 2 ** 30;
/** Run in the new machine before the snapshot: its package lists are read and the packages that the rig adds lie in apt's cache. Fetching
 * them is the network's time, not the rig's, and a mirror that is away for a minute must not fail a test. Nothing is installed. */
const PREPARE = `set -e
systemctl is-system-running --wait >/dev/null || true
apt-get update -qq
apt-get install -y -qq --download-only --no-install-recommends redis-server redis-tools numactl >/dev/null
systemctl --failed --no-legend`;

function lacking() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `a Linux computer on x64 (this is ${process.platform} on ${process.arch})`;
  if (process.getuid() !== 0) return 'root (debootstrap makes device files and a chroot)';
  // Debian keeps some of these in sbin, which is not on everybody's PATH.
  const tools = TOOLS.filter((tool) => spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin:/sbin command -v ${tool}`]).status !== 0);
  if (tools.length > 0) {
    return `${tools.join(', ')} (apt-get install --no-install-recommends debootstrap qemu-system-x86 qemu-utils e2fsprogs openssh-client)`;
  }
  if (!existsSync('/etc/apt')) return "a Debian or Ubuntu computer: its own apt sources say where the machine's packages come from";
  return undefined;
}

function keyOf() {
  const qemu = spawnSync('qemu-system-x86_64', ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0];
  const hash = createHash('sha256').update(readFileSync(SCRIPT)).update(PREPARE).update(qemu);
  return `rig-vm-${hash.digest('hex').slice(0, 12)}`;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function vm(port, ...args) {
  const env = { ...process.env, PORT: String(port), PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  const result = spawnSync('bash', [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env, encoding: 'utf8' });
  if (result.status !== 0) throw new SetupError(`vm.sh ${args[0]} ended with ${result.status ?? result.signal}`);
  return result.stdout;
}

async function build(work) {
  const machine = join(work, 'machine');
  const port = await freePort();
  mkdirSync(machine);
  console.error('setup-rig-vm: installing Debian into an image, 2 minutes ...');
  vm(port, 'build', work);
  console.error('setup-rig-vm: booting it, 1 minute ...');
  try {
    vm(port, 'boot', work, machine);
    const failed = vm(port, 'ssh', machine, 'root', PREPARE).trim();
    if (failed !== '') throw new SetupError(`the new machine has failed units:\n${failed}`);
    vm(port, 'save', machine, join(work, 'fresh.qcow2'));
  } finally {
    vm(port, 'stop', machine);
  }
  rmSync(machine, { recursive: true });
}

async function main(args) {
  const unknown = args.find((argument) => argument !== '--print');
  if (unknown) throw new SetupError(`unknown argument '${unknown}'; the only one is --print, which builds nothing`, 64);
  const missing = lacking();
  if (missing) throw new SetupError(`the test machine needs ${missing}`, EXIT_LACKING);
  const name = keyOf();
  if (!args.includes('--print')) return console.log(await buildOnce(name, NEEDED_BYTES, build));
  const folder = join(cacheRoot(), name);
  if (existsSync(folder)) console.log(folder);
}

await runSetup('setup-rig-vm', main);
