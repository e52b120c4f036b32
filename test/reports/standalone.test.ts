import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { goldenDir, reportRunDir } from '../fixtures/report-runs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a program of someone else's would hold: the reports, the contract, and the packages. */
function copyWithoutHarness(): string {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-standalone-'));
  cpSync(join(ROOT, 'reports'), join(dir, 'reports'), { recursive: true });
  cpSync(join(ROOT, 'harness', 'contract'), join(dir, 'harness', 'contract'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const config = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as object;
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ ...config, include: ['harness', 'reports'] }));
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  return dir;
}

test('reports type-check and render with the harness deleted except its contract', { timeout: 300_000 }, () => {
  // Goal: a run folder outlives the program that wrote it; the import rule is a fact, not a picture.
  const dir = copyWithoutHarness();
  assert.deepEqual(readdirSync(join(dir, 'harness')), ['contract']);
  const check = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json'], {
    cwd: dir,
    encoding: 'utf8',
  });
  assert.equal(check.status, 0, check.stdout);
  writeFileSync(
    join(dir, 'render.ts'),
    "import { renderReport } from './reports/render-report.js';\nimport { REPORT_FORMATS } from './reports/report-format.js';\n" +
      'renderReport(process.argv[2]!, { formats: REPORT_FORMATS, out: process.argv[3]! });\n',
  );
  const out = join(dir, 'out');
  const render = spawnSync(process.execPath, ['--import', 'tsx', 'render.ts', reportRunDir('missed'), out], { cwd: dir, encoding: 'utf8' });
  assert.equal(render.status, 0, render.stderr);
  for (const name of readdirSync(out).filter((entry) => entry !== 'tensorboard'))
    assert.ok(readFileSync(join(out, name)).equals(readFileSync(join(goldenDir('missed'), name))), name);
});
