// Goal: the health section shows what health.json says: every link leads somewhere, nothing from outside becomes markup, big runs stay small.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { HEALTH_STATES, type HealthReport, healthReportSchema } from '../../harness/contract/health-report.js';
import { packStates } from '../../harness/ladder/health/health-record.js';
import { unpackStates } from '../../reports/health/health-index.js';
import { growthVerdict, slopeText } from '../../reports/health/health-words.js';
import { readReportModel } from '../../reports/model.js';
import { renderReport } from '../../reports/render-report.js';
import { fixtureMetrics, fixtureRecord, folderOf, HOSTILE } from '../fixtures/ladder-run.js';
import { sickHealth } from '../fixtures/sick-run.js';

const RUN_ID = fixtureRecord().run.id;
const SECONDS = fixtureMetrics().at(-1)?.t_s ?? 0;

function sick(envs: number, text?: string): HealthReport {
  return healthReportSchema.parse(sickHealth({ runId: RUN_ID, envs, seconds: SECONDS, ...(text === undefined ? {} : { text }) }));
}

function rendered(health: unknown): { html: string; section: string; markdown: string } {
  const dir = folderOf(fixtureRecord());
  writeFileSync(join(dir, 'health.json'), typeof health === 'string' ? health : JSON.stringify(health));
  const paths = renderReport(dir);
  const html = readFileSync(paths.html, 'utf8');
  const section = /<section><h2>Health<\/h2>[\s\S]*?<\/section>/.exec(html)?.[0] ?? '';
  return { html, section, markdown: readFileSync(paths.markdown, 'utf8') };
}

function has(text: string, pattern: RegExp): void {
  assert.ok(pattern.test(text), `${pattern} is missing`);
}

/** Envs that the map's rectangles of each state cover, by the numbers in their titles. */
function mapped(section: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, state, first, last] of section.matchAll(/url\(#m-([a-z-]+)\)"><title>envs? ([\d,]+)(?: to ([\d,]+))?:/g)) {
    const number = (digits: string) => Number(digits.replace(/,/g, ''));
    counts[state as string] = (counts[state as string] ?? 0) + (last === undefined ? 1 : number(last) - number(first as string) + 1);
  }
  return counts;
}

test('every env is on the map in its state, with a legend that counts the same', () => {
  // Goal: 7,000 cells one can read: the rectangles cover each env once; states differ by pattern and name, not by colour alone.
  for (const envs of [1, 8, 60, 300, 1001, 7000]) {
    const health = sick(envs);
    const { section } = rendered(health);
    const found = mapped(section);
    for (const state of HEALTH_STATES) {
      assert.equal(found[state] ?? 0, health.state_counts[state], `${envs} envs, ${state}`);
      has(section, new RegExp(`<pattern id="m-${state}"`));
      has(section, new RegExp(`<b>${(health.state_counts[state] ?? 0).toLocaleString('en-US')}</b> ${state.replace('-', ' ')}`));
    }
  }
});

test('states unpack to what was packed', () => {
  // Goal: writer and reader of the run lengths agree.
  fc.assert(
    fc.property(fc.uint8Array({ max: 6, maxLength: 500 }), (states) => {
      assert.deepEqual(unpackStates(packStates(states), states.length), states);
    }),
  );
});

test('each link inside the page leads to one place, and cells in trouble have one', () => {
  // Goal: drill-down from a cell to its events by env id.
  for (const envs of [60, 7000]) {
    const { html, section } = rendered(sick(envs));
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map((found) => found[1] as string);
    assert.equal(new Set(ids).size, ids.length, 'ids are unique');
    const targets = [...html.matchAll(/href="#([^"]+)"/g)].map((found) => found[1] as string);
    assert.ok(targets.length > 10);
    for (const target of targets) assert.ok(ids.includes(target), `#${target} leads nowhere`);
    has(section, /<a href="#env-41"><rect [^>]*fill="url\(#m-quarantined\)"><title>env 41: quarantined, /);
    has(section, /<article id="env-41"><h4>env 41 <span class="state quarantined">quarantined<\/span>/);
    has(section, /its text is in events\.sqlite/);
  }
  const { section } = rendered(sick(7000));
  has(section, /<a href="#worker-3"><rect [^>]*fill="url\(#m-restarted\)"/);
  has(section, /<article id="worker-3">[\s\S]{0,400}SIGKILL/);
});

test('restarts, errors, growth, stability, slowest envs and deadlines are in both pages', () => {
  // Goal: the list of the issue, in HTML and in short in Markdown.
  const { section, markdown } = rendered(sick(300));
  for (const words of [
    'Restarts by cause, and the throughput under them',
    'worker SIGKILL',
    'the machine itself was late',
    'RangeError: pole angle is not a number',
    'at step0 \\(/srv/envs/cartpole.js:40:11\\)',
    'Memory of each process',
    'no sure change',
    'too short to say',
    '61, rising',
    'Stability by kind',
    '0\\.9987',
    'Slowest environments',
    'Longest gaps',
    '2 reset, 19 step, 1 close',
    '5 of 8|1 time, 2\\.[0-9] s',
  ])
    has(section, new RegExp(words));
  has(markdown, /## Health[\s\S]*234 live, 38 restarted, 1 slow, 1 quarantined, 5 lost, 13 stale/);
  for (const words of [
    'RangeError: pole angle',
    '0\\.9412',
    'no sure change',
    'deadlines missed: 2 reset, 19 step, 1 close',
    'Slowest against the median',
  ])
    has(markdown, new RegExp(words));
  assert.ok(markdown.length < 40_000);
});

test('texts from outside stay text: messages, stacks, entries, causes, reasons', () => {
  // Goal: no tag, attribute, script, control character or Markdown from an error message.
  const { html, section, markdown } = rendered(sick(60, HOSTILE));
  assert.ok(section.length > 0);
  assert.ok(!/<script|onerror=/i.test(html));
  assert.equal([...html.matchAll(/<\/style>/g)].length, 1);
  for (const tag of section.matchAll(/<[a-z][^>]*>/g))
    assert.ok(!/['"<`]alert|\$\{7\}/.test(tag[0].replace(/"[^"]*"/g, '""')), `an attribute is left open: ${tag[0].slice(0, 200)}`);
  for (const text of [html, markdown]) assert.ok(!text.includes('\u001b'));
  const health = markdown.slice(markdown.indexOf('## Health'), markdown.indexOf('## Deaths'));
  assert.ok(!/<script/.test(health) && !/[^\\]\|\*/.test(health));
});

test('the largest health.json one run can leave renders to a page below 5 MB', () => {
  // Goal: 7,000 envs that all have a story; a million envs; 256 workers.
  const base = sick(7000, 'x'.repeat(400));
  const story = (env: number): HealthReport['events']['envs'][number] => [env, Array.from({ length: 6 }, (_, i) => [i, 0, i % 6])];
  const worst = healthReportSchema.parse({
    ...base,
    states: Array.from({ length: 3500 }, () => '1q1s').join(''),
    events: { ...base.events, envs: Array.from({ length: 7000 }, (_, env) => story(env)) },
    growth: Array.from({ length: 257 }, (_, i) => ({ ...base.growth[i % 8], worker: i, role: 'worker' })),
  });
  const first = rendered(worst);
  assert.ok(first.html.length < 5_000_000, `${first.html.length} characters`);
  has(first.section, /6,000 more envs in health\.json/);
  const million = rendered({ ...base, envs: 1_000_000, states: '1000000l', frames: null });
  assert.ok(million.html.length < 1_000_000);
  has(million.section, /One cell per 100 environments, drawn as the worst of them/);
});

test('without health.json the report is as before; a damaged one is said, not fatal', () => {
  // Goal: old folders render; a torn copy of one file does not take the report.
  const dir = folderOf(fixtureRecord());
  assert.equal(readReportModel(dir).health, undefined);
  assert.ok(!readFileSync(renderReport(dir).html, 'utf8').includes('<h2>Health'));
  const damaged: [unknown, RegExp][] = [
    ['{"schema_version":"1.0.0"', /health\.json cannot be read .*the report goes without it/],
    [{ ...sick(8), schema_version: '2.0.0' }, /has schema version 2\.0\.0, this program reads 1\.x/],
    [{ ...sick(8), schema_version: undefined }, /has schema version undefined/],
    [{ ...sick(8), states: '<b>' }, /breaks its schema \(states: run lengths/],
    [{ ...sick(8), run_id: 'other' }, /belongs to another run/],
    [null, /has schema version/],
  ];
  for (const [content, pattern] of damaged) {
    const { section, markdown } = rendered(content);
    has(section, pattern);
    assert.ok(markdown.includes('## Health') && section.length < 700);
  }
  const unfinished = rendered({ ...sick(8), final: false });
  has(unfinished.section, /was not stopped in order/);
  has(unfinished.markdown, /was not stopped in order/);
});

test('a health.json in which nothing happened renders without empty tables', () => {
  // Goal: a good run has a map and facts, nothing else.
  const quiet: HealthReport = {
    ...sick(100),
    states: '100l',
    state_counts: { live: 100 },
    troubled: { envs: [], more: 0 },
    events: { types: [], texts: [], envs: [], workers: [], left_out: 0 },
    restarts: { bucket_s: 1, causes: [], soft: 0 },
    suspended: { total_s: 0, times: 0, intervals: [] },
    gaps: { times: 0, total_s: 0, classes: [0, 0, 0, 0, 0, 0, 0], longest: [] },
    stability: [],
    slowest: [],
    growth: [],
    errors: { total: 0, distinct: 0, lost: 0, unlisted: 0, top: [] },
    refused: {},
    deadlines_missed: { construct: 0, reset: 0, step: 0, close: 0 },
  };
  const { section, markdown } = rendered(quiet);
  assert.ok(!section.includes('<table'));
  assert.equal([...section.matchAll(/<figure/g)].length, 1);
  has(section, /<dt>errors<\/dt><dd>none<\/dd>/);
  has(markdown, /At the end: 100 live\./);
});

test('a slope is one only when its interval leaves out 0', () => {
  // Goal: the words do not claim more than the interval.
  assert.equal(growthVerdict({ value: 5, low: 1, high: 9 }), 'grows');
  assert.equal(growthVerdict({ value: 5, low: -1, high: 9 }), 'no sure change');
  assert.equal(growthVerdict({ value: -5, low: -9, high: -1 }), 'shrinks');
  assert.equal(growthVerdict(null), 'too short to say');
  assert.equal(slopeText({ value: 2 ** 20, low: -1024, high: 0 }), '+1.00 MiB/h (\u22121.00 KiB to 0 B)');
  assert.equal(slopeText(null), '\u2013');
});
