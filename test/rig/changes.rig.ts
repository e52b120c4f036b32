// Goal: a changed config reaches the host as exactly that change, and another host is a delete on the old one and a create on the new one.
import { match, ok, strictEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { machineFor, provisionedRig, skip } from './rig.js';
import { resourceCounts } from './stack.js';

const WORKERS_WEIGHT = '/sys/fs/cgroup/envladder.slice/envladder-workers.slice/cpu.weight';

it('a changed cpu.weight is one update, and the kernel has it', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await stack.setConfig({ slices: '{"workers":{"cpuWeight":777}}' });
  const up = await stack.run(['up', '--skip-preview']);
  strictEqual(up.code, 0, `${up.stdout}${up.stderr}`);
  const { updated, unchanged, ...others } = resourceCounts(up.stdout);
  strictEqual(updated, 1);
  ok((unchanged ?? 0) > 10);
  strictEqual(Object.keys(others).length, 0, JSON.stringify(others));
  match(up.stdout, /command:remote:Command rig-slices updated/);
  strictEqual(await machine.sh(`cat ${WORKERS_WEIGHT}`), '777');
});

it('another host gets everything and the old one is reverted; nothing is skipped', { skip }, async (t) => {
  const { machine: old, stack } = await provisionedRig(t);
  const next = await machineFor(t, undefined, true);
  await stack.setConfig({ port: String(next.port) });
  const preview = await stack.run(['preview', '--json']);
  strictEqual(preview.code, 0, preview.stdout);
  const steps = (JSON.parse(preview.stdout) as { steps: { op: string; urn: string }[] }).steps;
  const skipped = steps
    .filter(({ op, urn }) => urn.includes('command:remote:') && !/replace|delete/.test(op))
    .map(({ op, urn }) => `${op} ${urn}`);
  strictEqual(skipped.join('\n'), '', 'resources on the host that would not be replaced');
  const up = await stack.run(['up', '--skip-preview']);
  strictEqual(up.code, 0, `${up.stdout}${up.stderr}`);
  strictEqual(
    await old.sh(
      'ls -d /sys/fs/cgroup/envladder.slice /var/lib/envladder-rig /home/rig/.envladder-rig /etc/systemd/system/envladder* 2>/dev/null || true',
    ),
    '',
    'left on the old host',
  );
  ok(Number(await next.sh(`cat ${WORKERS_WEIGHT}`)) > 0);
  strictEqual(await next.sh('systemctl is-active envladder.slice'), 'active');
});
