import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readMetrics } from '../../reports/read-metrics.js';
import { SIX_DAYS_S, writeSixDayRun } from '../fixtures/six-day-run.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The bound of the issue: 1 GB of heap, and no process may hide memory beside it. */
const HEAP_MB = 1024;
const MAX_RSS_BYTES = 1.2 * 2 ** 30;
const MAX_HTML_BYTES = 5_000_000;

const CHILD = `
import { renderReport } from './reports/render-report.js';
import { REPORT_FORMATS } from './reports/report-format.js';
const { written } = renderReport(process.argv[1], { formats: REPORT_FORMATS });
console.log(JSON.stringify({ written, maxRssBytes: process.resourceUsage().maxRSS * 1024 }));
`;

test('six days of metrics and thousands of deaths render in 1 GB, to a page below 5 MB', { timeout: 600_000 }, (t) => {
  // Goal: the longest campaign's folder opens like any other: read in pieces, thinned, lists cut with their number said.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-six-days-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const record = writeSixDayRun(dir);
  assert.ok(statSync(join(dir, 'metrics.ndjson')).size > 2e8, 'half a million lines');
  const run = spawnSync(process.execPath, [`--max-old-space-size=${HEAP_MB}`, '--import', 'tsx', '--input-type=module', '-e', CHILD, dir], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(run.status, 0, run.stderr.slice(-2_000));
  const { written, maxRssBytes } = JSON.parse(run.stdout) as { written: string[]; maxRssBytes: number };
  assert.ok(maxRssBytes < MAX_RSS_BYTES, `${maxRssBytes} bytes resident`);
  assert.equal(written.length, 8);
  for (const path of written) assert.ok(statSync(path).size < MAX_HTML_BYTES, `${path}: ${statSync(path).size} bytes`);
  const html = readFileSync(join(dir, 'report.html'), 'utf8');
  assert.ok(html.includes(`${(record.deaths.length - 200).toLocaleString('en-US')} more deaths in run.json`));
  assert.ok(html.includes(`${(record.validity.reasons.length - 200).toLocaleString('en-US')} more reasons in run.json`));
  assert.ok(html.includes('death 2999'), 'the last tails are the ones shown');
  const kept = readMetrics(join(dir, 'metrics.ndjson'));
  assert.ok(kept.length <= 1_201);
  assert.deepEqual([kept[0]?.t_s, kept.at(-1)?.t_s], [1, SIX_DAYS_S]);
});
