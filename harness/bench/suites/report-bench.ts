// What it takes to render a run: the command `envladder report` on the folder of a real run, its start-up included, because that is what a
// person waits for. The renderer lives outside the harness and is reached as its user reaches it, through the command.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execArgvFor } from '../../supervisor/spawn.js';
import type { Bench, Row } from '../bench.js';
import { rowFrom, takeWindows } from '../windows.js';

/** A command that takes longer hangs. */
const LIMIT_MS = 180_000;
const WINDOWS = 7;

/** Runs the command line with these words; milliseconds of wall time. Throws what it said unless `done()` holds after it. */
function runCommand(words: readonly string[], done: () => boolean): number {
  const path = fileURLToPath(new URL(`../../cli/main${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));
  const began = performance.now();
  const ran = spawnSync(process.execPath, [...execArgvFor(path), path, ...words], { encoding: 'utf8', timeout: LIMIT_MS });
  const tookMs = performance.now() - began;
  if (!done()) throw new Error(`envladder ${words[0]}: ${ran.error?.message ?? ran.stderr.trim().split('\n').at(-1)}`);
  return tookMs;
}

/** report_render_ms. */
export const reportBench: Bench = {
  suite: 'process',
  rows: ['report_render_ms'],
  async run(context): Promise<Row[]> {
    const folder = mkdtempSync(join(tmpdir(), 'envladder-bench-report-'));
    try {
      const run = join(folder, 'run');
      // Whether its verdict is good does not matter here: an invalid run is rendered as any other.
      runCommand(['ladder', '--plan', 'smoke', '--out', run], () => existsSync(join(run, 'run.json')));
      let rendered = 0;
      const windows = await takeWindows(context, { windows: context.quick ? 1 : WINDOWS, label: 'report_render_ms' }, () => {
        const out = join(folder, String(rendered++));
        return runCommand(['report', run, '--format', 'html', '--out', out], () => existsSync(join(out, 'report.html')));
      });
      return [rowFrom('report_render_ms', windows, (ms) => ms, 'envladder report of a smoke run as HTML, start of Node included')];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
