// Goal: the smoke ladder runs on the rig inside its slices and comes back here with what each slice used.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { workFolder } from './machine.js';
import { releasedRig } from './released-rig.js';
import { mustRun, skip } from './rig.js';
import { runOrThrow } from './run-process.js';
import { REPOSITORY } from './stack.js';

interface SliceUse {
  readonly cpu_s: number;
  readonly memory_peak_bytes: number | null;
}
interface Recorded {
  readonly exit_code: number;
  readonly rig: { readonly config_hash: string; readonly slices: Record<string, SliceUse> };
  readonly tiers: readonly { readonly slices: Record<string, SliceUse> }[];
}

const SLICES = ['learner', 'redis', 'system', 'workers'];
/** What the smoke plan asks for, beside a Redis, in a machine of 2 GB. */
const WORKERS_MEMORY = JSON.stringify({ workers: { memoryHighBytes: 1200 * 2 ** 20, memoryMaxBytes: 1300 * 2 ** 20 } });

it('the smoke ladder runs on the rig, in its slices, and its record says what they used', { skip }, async (t) => {
  const { machine, stack } = await releasedRig(t, { slices: WORKERS_MEMORY });
  strictEqual(await machine.sh('/usr/local/bin/node --version'), process.version);

  const out = join(workFolder(), 'runs');
  const words = [
    'run',
    '--silent',
    'rig:ladder',
    '--',
    '--plan',
    'smoke',
    '--out',
    out,
    '--config-file',
    join(stack.folder, 'config.yaml'),
  ];
  const said = await runOrThrow('npm', words, { cwd: REPOSITORY, env: stack.env });
  match(said, /VALID/);
  const [run] = readdirSync(out).filter((name) => name.startsWith('smoke-'));
  const record = JSON.parse(readFileSync(join(out, run ?? '', 'run.json'), 'utf8')) as Recorded;
  strictEqual(record.exit_code, 0);
  const output = JSON.parse(await mustRun(stack, ['stack', 'output', 'rig', '--json'])) as { configHash: string };
  strictEqual(record.rig.config_hash, output.configHash);
  for (const slices of [record.rig.slices, ...record.tiers.map((tier) => tier.slices)]) {
    deepStrictEqual(Object.keys(slices).sort(), SLICES);
    ok((slices['workers']?.cpu_s ?? 0) > 0 && (slices['learner']?.cpu_s ?? 0) > 0, JSON.stringify(slices));
    ok((slices['workers']?.memory_peak_bytes ?? 0) > 2 ** 20);
  }
  const rendered = await runOrThrow('npm', ['run', '--silent', 'dev', '--', 'report', join(out, run ?? '')], { cwd: REPOSITORY });
  match(rendered, /smoke/);
});
