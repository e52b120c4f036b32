// Goal: `pulumi destroy` takes away what the rig put there and nothing else, and a host that does not answer does not hold the stack for ever.
import { notStrictEqual, strictEqual } from 'node:assert/strict';
import { it } from 'node:test';
import { missingForeignFiles } from './foreign-files.js';
import { differences, listHost } from './host-listing.js';
import { hostBefore, mustRun, provisionedRig, skip } from './rig.js';

it("destroy leaves the host as it was before the first up, and what is somebody else's is still there", { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await mustRun(stack, ['destroy', '--skip-preview']);
  strictEqual(await missingForeignFiles(machine), '');
  strictEqual(differences(hostBefore(), await listHost(machine)).join('\n'), '');
});

it('a host that does not answer fails destroy, and the documented way out empties the stack without it', { skip }, async (t) => {
  const { machine, stack } = await provisionedRig(t);
  await machine.sh('systemctl stop ssh.service');
  // A person sees it dialling and presses Ctrl-C.
  let cli = 0;
  // Once: a second Ctrl-C ends the CLI at once and leaves its lock.
  const interrupt = (text: string): void => {
    if (cli === 0 || !/remote:Command \S+ deleting/.test(text)) return;
    process.kill(cli, 'SIGINT');
    cli = 0;
  };
  const onStart = (pid: number): void => {
    cli = pid;
  };
  const destroy = await stack.run(['destroy', '--skip-preview'], { onStart, onOutput: interrupt });
  notStrictEqual(destroy.code, 0);
  // docs/runbook.md, "The host is gone for good".
  await stack.setConfig({ hostGone: 'true' });
  await mustRun(stack, ['destroy', '--run-program', '--skip-preview']);
  const left = JSON.parse(await mustRun(stack, ['stack', 'export'])) as { deployment: { resources?: unknown[] } };
  strictEqual(left.deployment.resources?.length ?? 0, 0);
});
