import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EnvladderError } from '../../harness/contract/errors.js';
import { readReportModel } from '../../reports/model.js';
import { readMetrics } from '../../reports/read-metrics.js';
import { renderTerminal } from '../../reports/render/terminal.js';
import { renderReport } from '../../reports/render-report.js';
import { ratesOf, tierStarts } from '../../reports/stats/timeline.js';
import { summarise } from '../../reports/summarise.js';
import {
  copyOfFixture,
  fixtureMetrics,
  fixtureRecord,
  folderOf,
  hostileRun,
  invalidRun,
  oneTier,
  sevenTiers,
  unmeasured,
} from '../fixtures/ladder-run.js';

/** Like assert.match and doesNotMatch, but a failure shows the place instead of the page. */
function has(text: string, pattern: RegExp): void {
  assert.ok(pattern.test(text), `${pattern} is missing`);
}

function lacks(text: string, pattern: RegExp, why = ''): void {
  const found = pattern.exec(text);
  assert.ok(
    found === null,
    `${pattern} found ${why}: ...${text.slice(Math.max(0, (found?.index ?? 0) - 80), (found?.index ?? 0) + 80)}...`,
  );
}

function rendered(dir: string): { html: string; markdown: string } {
  const paths = renderReport(dir);
  return { html: readFileSync(paths.html, 'utf8'), markdown: readFileSync(paths.markdown, 'utf8') };
}

test('a report is byte-identical on a repeat, in the same process and from a copy of the folder', () => {
  // Goal: reports are pure renderings of the folder: no clock, no random id, no path, no count of earlier renderings.
  const first = copyOfFixture();
  const once = rendered(first);
  assert.deepEqual(rendered(first), once);
  const moved = join(mkdtempSync(join(tmpdir(), 'envladder-moved-')), 'elsewhere');
  cpSync(first, moved, { recursive: true });
  rmSync(first, { recursive: true });
  rmSync(join(moved, 'report.html'));
  rmSync(join(moved, 'report.md'));
  assert.deepEqual(rendered(moved), once);
});

test('without a choice of formats a run folder gets what the end of a ladder writes', () => {
  // Goal: report.md, report.html, junit.xml and one event file, each whole, nothing half-written beside them.
  const dir = copyOfFixture();
  const { written, record } = renderReport(dir);
  const names = written.map((path) => path.slice(dir.length + 1));
  assert.deepEqual(names.slice(0, 3), ['report.md', 'report.html', 'junit.xml']);
  assert.deepEqual(readdirSync(join(dir, 'tensorboard')), [names[3]?.slice('tensorboard/'.length)]);
  assert.deepEqual(readdirSync(dir).sort(), ['junit.xml', 'metrics.ndjson', 'report.html', 'report.md', 'run.json', 'tensorboard']);
  assert.equal(record.run.id, fixtureRecord().run.id);
});

test('the page fetches nothing and runs nothing', () => {
  // Goal: one self-contained file that is readable without script and safe to mail.
  const { html } = rendered(copyOfFixture());
  lacks(html, /<script|<iframe|<object|<embed|<form|@import|\son[a-z]+=/i);
  const urls = [...html.matchAll(/\b(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)/g)].map((match) => match[1]);
  assert.deepEqual(urls, ['data:,']);
  has(html, /Content-Security-Policy" content="default-src 'none'/);
  lacks(html.replace(/<details>[\s\S]*?<\/details>/g, ''), /(?:>|: |\()(?:NaN|undefined|null|Infinity)\b|\[object /);
});

test('both formats say verdict, reasons with advice, every tier, the balance sum and the command', () => {
  // Goal: nothing that the page must hold is missing from either.
  for (const [name, record] of [
    ['valid', fixtureRecord()],
    ['invalid', invalidRun()],
  ] as const) {
    const { html, markdown } = rendered(folderOf(record));
    for (const text of [html, markdown]) {
      const plain = text.replace(/&#39;/g, "'").replace(/\\/g, '');
      assert.ok(plain.includes(name === 'valid' ? 'VALID' : 'INVALID'));
      assert.ok(plain.includes(record.run.command));
      for (const tier of record.tiers) assert.ok(plain.includes(tier.label));
      for (const reason of record.validity.reasons)
        assert.ok(plain.includes(reason.message) && plain.includes(reason.advice), `${name}: ${reason.message}`);
      for (const definition of ['sampling SPS = ', 'goodput = ', 'step latency = ', 'memory = '])
        assert.ok(plain.includes(definition), definition);
      for (const check of record.preflight) assert.ok(plain.includes(check.found));
      for (const death of record.deaths) assert.ok(plain.includes(death.cause));
    }
  }
  const { html } = rendered(copyOfFixture());
  assert.ok(html.includes('5,765,514 published = 5,585,638 trained + 121,076 dropped (reset) + 58,800 dropped (unfinished).'));
  assert.ok(rendered(folderOf(invalidRun())).html.includes('17 unaccounted for'), 'a sum that does not add up is shown');
});

test('one tier, seven tiers with six kinds, and a run without any measurement all render', () => {
  // Goal: no shape of a run breaks the report; what is missing is said, not drawn as zero.
  const seven = sevenTiers();
  const { html } = rendered(folderOf(seven.record, seven.metrics));
  for (const kind of Object.keys(seven.record.tiers[0]?.kinds ?? {})) assert.ok(html.includes(`<h3>${kind}</h3>`), `a curve for ${kind}`);
  assert.equal([...rendered(folderOf(oneTier())).html.matchAll(/<figure>/g)].length, 10);
  const nothing = rendered(folderOf(unmeasured(), null)).html;
  assert.equal([...nothing.matchAll(/<figure>/g)].length, 0);
  has(nothing, /No tier was measured\./);
  assert.ok(rendered(folderOf({ ...unmeasured(), tiers: [], deaths: [] }, null)).html.includes('No tier was started.'));
});

test('names, labels and errors from outside stay text in every format', () => {
  // Goal: a kind named <script> is shown, never run; a stderr tail cannot close a tag, a table or a fence, nor steer a terminal.
  const { record, metrics } = hostileRun();
  const { html, markdown } = rendered(folderOf(record, metrics));
  lacks(html, /<script|<\/style>\$/i);
  assert.equal([...html.matchAll(/<\/style>/g)].length, 1);
  has(html, /<h3>&lt;script&gt;alert\(1\)/);
  for (const tag of html.matchAll(/<[a-z][^>]*>/g))
    lacks(tag[0].replace(/"[^"]*"/g, '""'), /['"<`]alert|\$\{7\}/, 'no attribute is left open');
  lacks(markdown.replace(/```sh[\s\S]*```|(`+)[^\n]*?\1/g, ''), /<script|[^\\]\|\*/);
  for (const text of [html, markdown, renderTerminal(record, { width: 100 })]) assert.ok(!text.includes('\u001b'));
});

test('a torn last line of metrics is skipped, and so are lines that are no metrics', () => {
  // Goal: the folder of a killed run renders.
  const dir = copyOfFixture();
  const whole = readMetrics(join(dir, 'metrics.ndjson'));
  assert.deepEqual(whole, fixtureMetrics());
  appendFileSync(join(dir, 'metrics.ndjson'), '{"other":1}\nnot json\n{"t_s":120,"tier":3,"env');
  assert.deepEqual(readMetrics(join(dir, 'metrics.ndjson')), whole);
  assert.deepEqual(readMetrics(join(dir, 'missing.ndjson')), []);
});

test('a long run is thinned evenly, its ends kept, and its mean rates with them', () => {
  // Goal: six days draw as fast as a minute, in bounded memory, and thinning averages instead of picking.
  const [line] = fixtureMetrics();
  assert.ok(line);
  const path = join(mkdtempSync(join(tmpdir(), 'envladder-long-')), 'metrics.ndjson');
  const text: string[] = [];
  for (let t = 1; t <= 20_000; t++)
    text.push(`${JSON.stringify({ ...line, t_s: t, tier: t > 10_000 ? 1 : 0, published: t * 100 + (t % 2) * 50, envs_live: t })}\n`);
  writeFileSync(path, text.join(''));
  const kept = readMetrics(path, 300);
  assert.ok(kept.length >= 300 && kept.length <= 601, String(kept.length));
  assert.deepEqual([kept[0]?.t_s, kept.at(-1)?.t_s], [1, 20_000]);
  for (const { samplingSps } of ratesOf(kept).slice(0, -1)) assert.ok(Math.abs(samplingSps - 100) < 3, String(samplingSps));
  assert.deepEqual(
    tierStarts(kept).map((start) => start.tier),
    [0, 1],
  );
});

test('the terminal summary fits its width and is coloured only on a terminal that wants it', () => {
  // Goal: no wrapped table at 40 columns or more; NO_COLOR, TERM=dumb and pipes are respected.
  const { record: hostile } = hostileRun();
  for (const record of [fixtureRecord(), sevenTiers().record, invalidRun(), unmeasured(), hostile]) {
    for (const width of [40, 60, 80, 100, 140, 200]) {
      for (const text of renderTerminal(record, { width }).split('\n')) {
        const unbreakable = text.trim().split(' ').length === 1;
        assert.ok([...text].length <= width || unbreakable, `${width}: ${text}`);
      }
    }
  }
  const escapeCode = '\u001b[';
  assert.ok(summarise(fixtureRecord(), { isTTY: true, columns: 100 }, {}).includes(escapeCode));
  assert.ok(!summarise(fixtureRecord(), { isTTY: false }, {}).includes(escapeCode));
  assert.ok(!summarise(fixtureRecord(), { isTTY: true, columns: 100 }, { NO_COLOR: '1' }).includes(escapeCode));
  assert.ok(!summarise(fixtureRecord(), { isTTY: true, columns: 100 }, { TERM: 'dumb' }).includes(escapeCode));
  has(summarise(fixtureRecord(), { columns: 140 }, {}), /71,904 +70,250/);
  has(renderTerminal(invalidRun()), /INVALID[\s\S]*died without stopping[\s\S]*dmesg[\s\S]*12 of 5,000 envs were quarantined/);
});

test('a folder without a readable record of this major version is refused', () => {
  // Goal: the message says which file, what is wrong and what to do.
  const dir = mkdtempSync(join(tmpdir(), 'envladder-none-'));
  const refused = (pattern: RegExp) => (error: EnvladderError) =>
    error.code === 'bad-record' && pattern.test(error.message) && error.message.includes(join(dir, 'run.json'));
  assert.throws(() => readReportModel(dir), refused(/ENOENT.*folder of a run/));
  writeFileSync(join(dir, 'run.json'), JSON.stringify({ ...fixtureRecord(), schema_version: '2.0.0' }));
  assert.throws(() => readReportModel(dir), refused(/2\.0\.0/));
  writeFileSync(join(dir, 'run.json'), JSON.stringify({ ...fixtureRecord(), exit_code: 'four' }));
  assert.throws(() => readReportModel(dir), refused(/exit_code/));
});
