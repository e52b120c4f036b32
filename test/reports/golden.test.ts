import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { renderFormat } from '../../reports/formats.js';
import { renderTerminal } from '../../reports/render/terminal.js';
import { REPORT_FORMATS } from '../../reports/report-format.js';
import { goldenDir, REPORT_RUNS, reportRun, reportRunDir } from '../fixtures/report-runs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every file of every format, the terminal among them. Backwards on request: no format may depend on what was rendered before. */
function renderAll(run: (typeof REPORT_RUNS)[number], backwards = false): Map<string, Buffer> {
  const model = reportRun(run);
  const formats = backwards ? [...REPORT_FORMATS].reverse() : REPORT_FORMATS;
  const files = formats.flatMap((format) => renderFormat(format, model));
  files.push({ name: 'terminal.txt', content: `${renderTerminal(model.record, { width: 100, colour: true })}\n` });
  return new Map(files.map(({ name, content }) => [name, Buffer.from(content)]));
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(dir.length + 1))
    .sort();
}

function same(found: Buffer | undefined, golden: Buffer, name: string): void {
  if (found?.equals(golden)) return;
  const lines = found?.toString().split('\n') ?? [];
  const wanted = golden.toString().split('\n');
  const at = wanted.findIndex((line, i) => line !== lines[i]);
  assert.fail(
    `${name} differs from its golden file at line ${at + 1}:\n  wanted ${wanted[at]?.slice(0, 200)}\n  found  ${lines[at]?.slice(0, 200)}\n` +
      'if the change is meant: ENVLADDER_UPDATE_GOLDEN=1 node --import tsx --test test/reports/golden.test.ts, and look at the difference',
  );
}

for (const run of REPORT_RUNS) {
  test(`every format of the ${run} run is its golden file, byte for byte`, () => {
    // Goal: same inputs, same bytes; a change of any format is seen in review.
    const dir = goldenDir(run);
    const found = renderAll(run);
    if (process.env.ENVLADDER_UPDATE_GOLDEN === '1') {
      rmSync(dir, { recursive: true, force: true });
      for (const [name, bytes] of found) {
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), bytes);
      }
    }
    assert.deepEqual(filesBelow(dir), [...found.keys()].sort());
    for (const name of found.keys()) same(found.get(name), readFileSync(join(dir, name)), name);
  });

  test(`the ${run} run renders to the same bytes in any order, and by the command line in another zone and language`, () => {
    // Goal: no clock, zone, locale, process state or path reaches a report.
    const dir = goldenDir(run);
    for (const [name, bytes] of renderAll(run, true)) same(bytes, readFileSync(join(dir, name)), name);
    const out = join(mkdtempSync(join(tmpdir(), 'envladder-golden-')), 'new', 'folder');
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'harness/cli/main.ts', 'report', reportRunDir(run), '--format', 'all', '--out', out],
      { cwd: ROOT, encoding: 'utf8', env: { ...process.env, TZ: 'Pacific/Auckland', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' } },
    );
    assert.equal(status, 0, stderr);
    const names = filesBelow(out);
    assert.deepEqual(
      names,
      filesBelow(dir).filter((name) => name !== 'terminal.txt'),
    );
    for (const name of names) {
      same(readFileSync(join(out, name)), readFileSync(join(dir, name)), name);
      assert.ok(stdout.includes(join(out, name)), `${name} is named`);
    }
    const inputs = [...(run === 'sick' ? ['health.json'] : []), 'metrics.ndjson', 'run.json'];
    assert.deepEqual(filesBelow(reportRunDir(run)), inputs, 'nothing is left in the run folder');
  });
}
