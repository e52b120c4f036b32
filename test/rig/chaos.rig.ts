// Goal: the rows of the fault matrix that need a machine of its own (controllers of cgroup v2, a clock that may be set) hold on the rig.
import { deepStrictEqual, ok } from 'node:assert/strict';
import { it } from 'node:test';
import { releasedRig } from './released-rig.js';
import { skip } from './rig.js';

/** A leak, memory.max, a neighbour's pressure, cpu.max, no cgroups, no SCHED_FIFO, a clock that jumps. */
const ROWS = [12, 13, 14, 15, 16, 17, 47];
/** An emulated machine is about twenty times slower than a real one. */
const PATIENCE = 20;

interface Report {
  readonly rows: readonly { readonly row: number; readonly result: string; readonly reason: string }[];
}

it('the rows that need cgroup v2 controllers or a clock of their own hold on the rig', { skip }, async (t) => {
  const { machine } = await releasedRig(t);
  const words = `--own-machine --only ${ROWS.join(',')} --seed 3 --patience ${PATIENCE} --out /root/chaos --json`;
  // A unit with a part of the hierarchy to itself, as the ladder has on a rig.
  const unit = 'systemd-run --quiet --wait --pipe --collect -p Delegate=yes -p TasksMax=infinity --working-directory=/root';
  const { stdout, stderr } = await machine.trySh(
    `${unit} /usr/local/bin/node /opt/envladder/current/dist/harness/cli/main.js chaos ${words}`,
  );
  ok(stdout.startsWith('{'), stderr.slice(-2000));
  const { rows } = JSON.parse(stdout) as Report;
  deepStrictEqual(
    rows.map(({ row, result, reason }) => [row, result, reason]),
    ROWS.map((row) => [row, 'PASS', '']),
    stderr.slice(-3000),
  );
});
