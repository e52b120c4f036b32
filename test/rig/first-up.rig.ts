// Goal: one `pulumi up` turns a bare host into a rig, a second one finds nothing to do, and no secret is readable in what they leave.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keepProvisioned, type Rig, SECRETS, skip, strangersRig } from './rig.js';
import { transcript } from './run-process.js';
import { PASSPHRASE, resourceCounts } from './stack.js';

describe('the first up', { skip }, () => {
  let rig: Rig;
  let good = false;
  before(async () => {
    // The last hook keeps and ends the machine.
    rig = await strangersRig({ after: () => {} });
  });

  it('makes a bare host a rig', async () => {
    const up = await rig.stack.run(['up', '--skip-preview']);
    strictEqual(up.code, 0, `${up.stdout}${up.stderr}`);
    const counts = resourceCounts(up.stdout);
    ok((counts['created'] ?? 0) >= 10, `created ${counts['created']}`);
    strictEqual(counts['errored'], undefined);
    good = true;
  });

  it('leaves the values of the plan in the files of the kernel', async () => {
    const exported = JSON.parse((await rig.stack.run(['stack', 'output', 'rig', '--json'])).stdout) as {
      slices: Record<string, { cpuWeight: number; memoryMaxBytes: number; tasksMax: number }>;
    };
    for (const [name, slice] of Object.entries(exported.slices)) {
      const group = `/sys/fs/cgroup/envladder.slice/envladder-${name}.slice`;
      const found = await rig.machine.sh(`cd ${group} && cat cpu.weight memory.max pids.max`);
      deepStrictEqual(
        found.split('\n').map(Number),
        [slice.cpuWeight, Math.floor(slice.memoryMaxBytes / 2 ** 20) * 2 ** 20, slice.tasksMax],
        name,
      );
    }
    strictEqual(await rig.machine.sh('cat /proc/sys/vm/overcommit_memory'), '1');
  });

  it('starts a Redis that asks for a password and answers nobody outside', async () => {
    strictEqual(await rig.machine.sh('systemctl --failed --no-legend'), '');
    match(await rig.machine.sh('redis-cli -p 6379 ping 2>&1'), /NOAUTH/);
    const outside = await rig.machine.sh(
      `ss -Hltn | awk '{print $4}' | grep -E ':(6379|6380|6381)$' | grep -vE '^(127\\.0\\.0\\.1|\\[::1\\]):' || true`,
    );
    strictEqual(outside, '');
  });

  it('a second up changes nothing', async () => {
    const up = await rig.stack.run(['up', '--skip-preview', '--expect-no-changes']);
    strictEqual(up.code, 0, `${up.stdout}${up.stderr}`);
    deepStrictEqual(Object.keys(resourceCounts(up.stdout)), ['unchanged']);
  });

  it("keeps every secret out of the exported state, the output and the host's process list and files for everybody", async () => {
    const { stdout: state, code } = await rig.stack.run(['stack', 'export']);
    strictEqual(code, 0);
    const key = rig.machine.privateKey.split('\n')[1] ?? '';
    const secrets = { ...SECRETS, key, passphrase: PASSPHRASE };
    const journal = await rig.machine.sh('journalctl --no-pager -o cat');
    const readable = await rig.machine.sh(
      `cd / && grep -rlsE 'Secret-admin|Secret-app~|Secret_replica' /etc /var/lib /opt /home /tmp /run 2>/dev/null | while read -r f; do su -s /bin/sh nobody -c "test -r '$f'" && echo "$f"; done || true`,
    );
    for (const [name, secret] of Object.entries(secrets)) {
      ok(!state.includes(secret), `${name} is in the exported state`);
      ok(!transcript.some((text) => text.includes(secret)), `${name} was printed`);
      ok(!journal.includes(secret), `${name} is in the journal of the host`);
    }
    strictEqual(readable, '', 'readable by everybody on the host');
    ok(state.includes('4dabf18193072939515e22adb298388d'), 'the state has secrets, encrypted');
  });

  // A rig that is not whole is no ground for the other cases: they make their own and say why that fails.
  after(async () => (good ? keepProvisioned(rig) : rig.machine.stop()));
});
