// Goal: what somebody changed on the host by hand is named by the doctor and mended by `pulumi up` in the way the doctor says; a host that does
// not answer is neither good nor drift.
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { mustRun, provisionedRig, skip } from './rig.js';
import { type Finished, runProcess } from './run-process.js';
import { REPOSITORY, resourceCounts, type Stack } from './stack.js';

interface Report {
  readonly status: string;
  readonly concerns: readonly { readonly concern: string; readonly status: string; readonly differs: readonly string[] }[];
}

function runDoctor(stack: Stack): Promise<Finished> {
  const words = ['run', '--silent', 'rig:doctor', '--', '--config-file', join(stack.folder, 'config.yaml')];
  return runProcess('npm', words, { cwd: REPOSITORY, env: stack.env });
}

const drifting = ({ stdout }: Finished): Record<string, readonly string[]> =>
  Object.fromEntries(
    (JSON.parse(stdout) as Report).concerns.filter(({ status }) => status !== 'ok').map(({ concern, differs }) => [concern, differs]),
  );

it('drift made by hand is named by the doctor and mended by the up that it recommends', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await machine.sh(`set -e
systemctl set-property --runtime envladder-workers.slice CPUWeight=999
echo 0 > /proc/sys/vm/overcommit_memory
systemctl disable -q --now envladder-shm-janitor.timer 2>/dev/null || systemctl stop '*janitor*.timer'`);
  const sick = await runDoctor(stack);
  strictEqual(sick.code, 1, sick.stderr);
  const found = drifting(sick);
  deepStrictEqual(Object.keys(found), ['base-system', 'rig-slices', 'redis-trio', 'shm-janitor']);
  // Redis asks the kernel for the same thing.
  match(String(found['redis-trio']), /overcommit/);
  deepStrictEqual(found['base-system'], ['sysctl:vm.overcommit_memory']);
  match(String(found['rig-slices']), /workers:cpu\.weight/);
  // Not even a plain up sees it: that is what the doctor is for.
  await mustRun(stack, ['preview', '--expect-no-changes']);
  const advice = [...sick.stderr.matchAll(/npx pulumi config set --path (repair\.\S+)/g)].map(([, path]) => path ?? '');
  deepStrictEqual(
    advice,
    Object.keys(found).map((concern) => `repair.${concern}`),
  );
  for (const path of advice) await mustRun(stack, ['config', 'set', '--path', path, '1']);
  strictEqual(resourceCounts(await mustRun(stack, ['up', '--skip-preview']))['updated'], 4);
  const well = await runDoctor(stack);
  strictEqual(well.code, 0, well.stderr);
  deepStrictEqual(drifting(well), {});
  await machine.sh('systemctl stop ssh.service');
  strictEqual((await runDoctor(stack)).code, 2);
});
