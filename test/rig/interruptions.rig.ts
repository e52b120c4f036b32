// Goal: an `up` that stops half-way, whatever stopped it, says why and leaves a rig that the next `up` finishes.
import { match, ok, strictEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { holdConcern, releaseConcern, untilConcernWaits } from './held-concern.js';
import { mustRun, provisionedRig, skip } from './rig.js';
import { resourceCounts } from './stack.js';

const SWAPPINESS = 'cat /proc/sys/vm/swappiness';
const unfinished = 'find /var/lib/envladder-rig -name unfinished';

it('a script that fails is heard in its own words, and the next up converges', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await stack.setConfig({ sysctls: '{"vm.swappiness":9000}' });
  const up = await stack.run(['up', '--skip-preview']);
  ok(up.code !== 0);
  match(up.stdout + up.stderr, /base-system: .*vm\.swappiness.*9000/);
  match(up.stdout, /Process exited with status 70/);
  // The command, and the stack that holds it.
  strictEqual(resourceCounts(up.stdout)['errored'], 2);
  await stack.setConfig({ sysctls: '{"vm.swappiness":17}' });
  strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['updated'], 1);
  strictEqual(await machine.sh(SWAPPINESS), '17');
  strictEqual(await machine.sh(unfinished), '');
});

it('a CLI that is killed in the middle leaves a lock, cancel takes it away, and the next up converges', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await stack.setConfig({ sysctls: '{"vm.swappiness":18}' });
  await holdConcern(machine, 'base-system');
  let cli = 0;
  const up = stack.run(['up', '--skip-preview'], { onStart: (pid) => (cli = pid) });
  await untilConcernWaits(machine, 'base-system');
  process.kill(cli, 'SIGKILL');
  strictEqual((await up).signal, 'SIGKILL');
  const locked = await stack.run(['up', '--skip-preview']);
  ok(locked.code !== 0);
  match(locked.stdout + locked.stderr, /locked by 1 lock/);
  await mustRun(stack, ['cancel', '--yes']);
  // The script that the dead CLI had started goes on when the lock is free; the new one waits for it.
  await releaseConcern(machine, 'base-system');
  strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['errored'], undefined);
  strictEqual(await machine.sh(SWAPPINESS), '18');
  strictEqual(await machine.sh(unfinished), '');
  await mustRun(stack, ['up', '--skip-preview', '--expect-no-changes']);
});

it('a host that reboots in the middle fails the up, and the next one waits for it and converges', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await stack.setConfig({ sysctls: '{"vm.swappiness":19}' });
  await holdConcern(machine, 'base-system');
  const boot = await machine.sh('cat /proc/sys/kernel/random/boot_id');
  const up = stack.run(['up', '--skip-preview']);
  await untilConcernWaits(machine, 'base-system');
  await machine.trySh('systemctl reboot --force');
  const failed = await up;
  ok(failed.code !== 0);
  match(failed.stdout, /without exit status|connection|reset|closed/i);
  strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['errored'], undefined);
  ok((await machine.sh('cat /proc/sys/kernel/random/boot_id')) !== boot);
  strictEqual(await machine.sh(SWAPPINESS), '19');
  strictEqual(await machine.sh(unfinished), '');
  strictEqual(await machine.sh('systemctl is-active envladder.slice'), 'active');
  strictEqual(await machine.sh('systemctl --failed --no-legend'), '');
});
