// Goal: the GPU's concerns ask driver, toolkit and cuDNN for what they must, reboot when one is asked for, and take everything away again.
// A contract test against small fakes (test/rig/fixtures): no GPU was driven.
import { match, notStrictEqual, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Machine } from './machine.js';
import { workFolder } from './machine.js';
import { freshRig, mustRun, skip } from './rig.js';
import { runOrThrow } from './run-process.js';

const MIRROR = '/srv/mirror';
const GPU_HOST_MIB = 12_000;
const BOOT_ID = 'cat /proc/sys/kernel/random/boot_id';

/** Makes the fixture mirror, puts it on the machine and makes that look like one with a GPU. Returns the config that points at it. */
async function putMirror(machine: Machine): Promise<Record<string, string>> {
  const folder = join(workFolder(), 'gpu-mirror');
  const printed = await runOrThrow('bash', [join(import.meta.dirname, 'fixtures/make-gpu-mirror.sh'), folder]);
  const sums = new Map(
    printed
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
  for (const name of sums.keys()) await machine.put(join(folder, name), `${MIRROR}/${name}`);
  // The pre-flight looks for an NVIDIA display device on the bus and for the memory that a learner on GPUs is given; the reboot takes both
  // away again, when nobody looks any more.
  await machine.sh(`set -e
tar -xzf ${MIRROR}/host-tools.tar.gz -C /usr/local/bin
mkdir -p /srv/pci/0000:99:00.0
echo 0x10de > /srv/pci/0000:99:00.0/vendor
echo 0x030200 > /srv/pci/0000:99:00.0/class
mount --bind /srv/pci /sys/bus/pci/devices
sed 's/^MemTotal:.*/MemTotal: ${GPU_HOST_MIB * 1024} kB/' /proc/meminfo > /srv/meminfo
mount --bind /srv/meminfo /proc/meminfo`);
  const sum = (name: string): string => sums.get(name) ?? '';
  return {
    gpus: '2',
    redis: 'false',
    nvidiaRunfile: `${MIRROR}/nvidia-driver.run`,
    nvidiaSha256: sum('nvidia-driver.run'),
    cudaRunfile: `${MIRROR}/cuda-toolkit.run`,
    cudaSha256: sum('cuda-toolkit.run'),
    cudnnArchive: `${MIRROR}/cudnn.tar.gz`,
    cudnnSha256: sum('cudnn.tar.gz'),
  };
}

it('contract, no GPU driven: driver, reboot, toolkit and cuDNN come in their order and go again', { skip }, async (t) => {
  const { machine, stack } = await freshRig(t, { ramMb: String(GPU_HOST_MIB) });
  await stack.setConfig(await putMirror(machine));
  const boot = await machine.sh(BOOT_ID);
  await machine.sh('mkdir -p /run/envladder-rig && echo "rig-test: to see one" > /run/envladder-rig/needs-reboot');
  await mustRun(stack, ['up', '--skip-preview']);
  notStrictEqual(await machine.sh(BOOT_ID), boot, 'it was rebooted');
  match(await machine.sh('cat /var/lib/fake-gpu/driver.args'), /^--silent --dkms --no-opengl-files/);
  match(await machine.sh('cat /var/lib/fake-gpu/toolkit.args'), /--silent --toolkit /);
  strictEqual(await machine.sh('nvidia-smi --query-gpu=driver_version --format=csv,noheader | sort -u'), '525.85.12');
  match(await machine.sh('ldconfig -p | grep libcudnn.so.8'), /\/usr\/local\/cuda-11\.8\//);
  match(await machine.sh('cat /etc/modprobe.d/*nouveau*'), /blacklist nouveau/);
  const output = JSON.parse(await mustRun(stack, ['stack', 'output', 'rig', '--json'])) as { gpuStack: boolean };
  strictEqual(output.gpuStack, true);
  await mustRun(stack, ['up', '--skip-preview', '--expect-no-changes']);
  await mustRun(stack, ['destroy', '--skip-preview']);
  strictEqual(
    await machine.sh(
      'ls -d /usr/bin/nvidia-* /usr/local/cuda* /etc/ld.so.conf.d/cuda* /etc/modprobe.d/*envladder* /var/lib/envladder-rig 2>/dev/null || true',
    ),
    '',
  );
  strictEqual(await machine.sh('test -s /var/lib/fake-gpu/uninstall.args && echo called'), 'called');
});
