import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord, TierResult } from '../../harness/contract/run-record.js';
import type { ReportModel } from '../../reports/model.js';
import { renderKindsCsv, renderTiersCsv } from '../../reports/render/csv.js';
import { renderGithubSummary } from '../../reports/render/github-summary.js';
import { renderJunit } from '../../reports/render/junit.js';
import { renderPrometheus } from '../../reports/render/prometheus.js';
import { fixtureMetrics, fixtureRecord, HOSTILE, hostileRun, invalidRun, unmeasured } from '../fixtures/ladder-run.js';
import { reportRun } from '../fixtures/report-runs.js';
import { parseCsv, parseExposition, parseXml, type XmlElement } from './parsers.js';

const modelOf = (record: RunRecord): ReportModel => ({ record, metrics: fixtureMetrics() });

/** One objective of each verdict on the last tier. */
function withObjectives(record: RunRecord, slo = 'goodput_sps > 1'): RunRecord {
  const result = (verdict: 'met' | 'missed' | 'not-measured', i: number) => ({
    slo: `${slo} ${i}`,
    metric: `${slo} ${i}`,
    op: '>' as const,
    limit: 1,
    value: verdict === 'not-measured' ? null : i,
    verdict,
    aborted: verdict === 'missed',
  });
  const tiers = record.tiers.map(
    (tier, i): TierResult => ({
      ...tier,
      slos: i < record.tiers.length - 1 ? [] : [result('met', 2), result('missed', 0), result('not-measured', 7)],
    }),
  );
  return { ...record, tiers, slo_verdict: 'missed' };
}

/** The hostile record without text that no control character of XML could hold. */
function hostile(): ReportModel {
  const { record, metrics } = hostileRun();
  const worse = `${HOSTILE}]]>\ud800\uffff\u0000\\"\n=`;
  const slo = withObjectives(record, worse);
  const warning = { code: worse, message: worse, advice: worse };
  return { metrics, record: { ...slo, warnings: [warning], run: { ...slo.run, started_at: worse } } };
}

function all(element: XmlElement, name: string): XmlElement[] {
  return [...(element.name === name ? [element] : []), ...element.children.flatMap((child) => all(child, name))];
}

test('JUnit says INVALID as errors, missed objectives as failures, and mixes neither with the other', () => {
  // Goal: a CI system that colours errors and failures differently tells "not measured properly" from "not good enough".
  const valid = parseXml(renderJunit(modelOf(fixtureRecord())));
  assert.deepEqual([all(valid, 'error').length, all(valid, 'failure').length], [0, 0]);
  assert.equal(all(valid, 'testsuite').length, fixtureRecord().tiers.length + 1);

  const missed = parseXml(renderJunit(modelOf(withObjectives(fixtureRecord()))));
  assert.equal(all(missed, 'error').length, 0, 'a missed objective leaves the run valid');
  assert.deepEqual(
    all(missed, 'failure').map((failure) => failure.attributes.message),
    ['goodput_sps > 1 0, found 0; the tier was ended for it'],
  );
  assert.equal(all(missed, 'skipped').length, 1, 'an objective that was not measured is neither');

  const record = withObjectives(invalidRun());
  const invalid = parseXml(renderJunit(modelOf(record)));
  const reasons = [...record.validity.reasons, ...record.tiers.flatMap((tier) => tier.validity.reasons)];
  assert.deepEqual(
    all(invalid, 'error').map(({ attributes, text }) => [attributes.message, attributes.type, text]),
    reasons.map(({ message, advice }) => [message, 'INVALID', advice]),
  );
  assert.equal(all(invalid, 'failure').length, 1);
  for (const suite of [invalid, ...all(invalid, 'testsuite')]) {
    for (const [attribute, name] of [
      ['tests', 'testcase'],
      ['errors', 'error'],
      ['failures', 'failure'],
      ['skipped', 'skipped'],
    ] as const)
      assert.equal(Number(suite.attributes[attribute]), all(suite, name).length, attribute);
  }
});

test('what was not measured is skipped in JUnit, empty in CSV and absent in Prometheus, never zero', () => {
  // Goal: no format turns "not measured" into a figure.
  const nothing = unmeasured();
  const model = modelOf({
    ...nothing,
    slo_verdict: 'none',
    tiers: nothing.tiers.map((tier) => ({ ...tier, slos: [], machine_load: null })),
  });
  const xml = parseXml(renderJunit(model));
  assert.equal(all(xml, 'skipped').length, 8);
  assert.equal(all(xml, 'system-out').length, 0);
  const [heading = [], row = []] = parseCsv(renderTiersCsv(model));
  for (const column of ['sampling_sps', 'goodput_sps', 'step_latency_us_p99', 'time_to_all_live_s', 'pss_bytes', 'slos_met'])
    assert.equal(row[heading.indexOf(column)], '', column);
  const names = new Set(parseExposition(renderPrometheus(model)).map((sample) => sample.name));
  for (const name of ['sampling_steps_per_second', 'step_latency_seconds_count', 'time_to_all_live_seconds'])
    assert.ok(!names.has(`envladder_tier_${name}`), name);
  assert.ok(names.has('envladder_tier_valid'));
});

test('CSV holds the record in full, one row per tier and per kind, and reads back', () => {
  // Goal: a spreadsheet or data frame computes with the record's own figures.
  for (const record of [fixtureRecord(), reportRun('invalid').record]) {
    const [heading = [], ...rows] = parseCsv(renderTiersCsv(modelOf(record)));
    assert.equal(rows.length, record.tiers.length);
    rows.forEach((row, i) => {
      const tier = record.tiers[i] as TierResult;
      const cell = (column: string) => row[heading.indexOf(column)];
      assert.equal(row.length, heading.length);
      assert.equal(cell('label'), /^[=+\-@]/.test(tier.label) ? `'${tier.label}` : tier.label);
      assert.equal(Number(cell('sampling_sps')), tier.sampling_sps);
      assert.equal(Number(cell('step_latency_us_p999')), tier.step_latency_us.p999);
      const ends = ['trained', 'evaluated', 'superseded', 'in_flight', 'dropped'].reduce((sum, end) => sum + Number(cell(end)), 0);
      const { published, trained, evaluated, superseded, in_flight, dropped } = tier.balance;
      assert.equal(Number(cell('published')), published);
      assert.equal(ends, trained + evaluated + superseded + in_flight + Object.values(dropped).reduce((a, b) => a + b, 0));
    });
    const kinds = parseCsv(renderKindsCsv(modelOf(record)));
    assert.equal(
      kinds.length - 1,
      record.tiers.reduce((sum, tier) => sum + Object.keys(tier.kinds).length, 0),
    );
  }
});

test('Prometheus text has every series once, its type before it, and a cumulative histogram that ends at its count', () => {
  // Goal: a scraper takes the file as it is, and histogram_quantile works on it.
  const record = withObjectives(fixtureRecord());
  const samples = parseExposition(renderPrometheus(modelOf(record)));
  assert.ok(samples.length > 100);
  for (const { name } of samples) assert.match(name, /^envladder_[a-z0-9_]+$/);
  for (const tier of record.tiers) {
    const own = samples.filter(({ labels }) => labels.tier === String(tier.tier));
    const buckets = own.filter(({ name }) => name === 'envladder_tier_step_latency_seconds_bucket');
    assert.ok(buckets.every(({ value }, i) => i === 0 || value >= (buckets[i - 1]?.value ?? 0)));
    assert.equal(buckets.at(-1)?.labels.le, '+Inf');
    assert.equal(buckets.at(-1)?.value, tier.agent_steps);
    assert.equal(own.find(({ name }) => name === 'envladder_tier_step_latency_seconds_count')?.value, tier.agent_steps);
    const frames = own.filter(({ name }) => name === 'envladder_tier_frames').reduce((sum, { value }) => sum + value, 0);
    assert.equal(frames, tier.balance.published, 'where the frames ended sums to what was published');
  }
  assert.deepEqual(
    samples.filter(({ name }) => name === 'envladder_tier_slo_met').map(({ value }) => value),
    [1, 0],
  );
  const twice = parseExposition(renderPrometheus(modelOf({ ...record, tiers: [...record.tiers, ...record.tiers] })));
  assert.equal(twice.length, samples.length, 'a series that stands twice makes a scraper refuse the file');
});

test('text from outside cannot end a cell, a label, an attribute or a section in any format', () => {
  // Goal: names, labels and errors that try to be markup, formulas or series stay text.
  const model = hostile();
  const { record } = model;
  const xml = parseXml(renderJunit(model));
  assert.equal(all(xml, 'testsuite').length, record.tiers.length + 1);
  assert.equal(all(xml, 'failure').length, 1);
  for (const text of [renderTiersCsv(model), renderKindsCsv(model)]) {
    const rows = parseCsv(text);
    for (const row of rows) {
      assert.equal(row.length, rows[0]?.length);
      for (const cell of row) assert.ok(!/^[=+@]|^-[^\d]|[\n\r]/.test(cell) && !cell.includes('\u001b'), cell);
    }
  }
  const samples = parseExposition(renderPrometheus(model));
  assert.equal(samples.find(({ name }) => name === 'envladder_run_info')?.labels.version, HOSTILE, 'a label reads back as it was');
  const summary = renderGithubSummary(model);
  const prose = summary.replace(/\\`/g, '').replace(/```sh[\s\S]*?```|(`+)[^\n]*?\1/g, '');
  assert.ok(!/<script|[^\\]\|\*|[\ud800-\udfff]/u.test(prose) && !prose.includes('\u001b'), prose);
  assert.equal([...summary.matchAll(/<\/?details>/g)].length, 4);
});

test('the job summary stays below what GitHub takes, however much went wrong', () => {
  // Goal: 65,536 characters are refused as a whole; a summary that is cut says so and where the rest is.
  const { record } = modelOf(withObjectives(invalidRun()));
  const reason = { code: 'quarantined', message: 'x'.repeat(300), advice: 'y'.repeat(300) };
  const tier = record.tiers[2] as TierResult;
  const many = Array.from({ length: 400 }, () => reason);
  const tiers = Array.from({ length: 300 }, (_, i): TierResult => ({ ...tier, tier: i, label: `Day ${i}` }));
  const text = renderGithubSummary(modelOf({ ...record, tiers, validity: { verdict: 'invalid', reasons: many }, warnings: many }));
  assert.ok(text.length < 65_536, String(text.length));
  assert.match(text, /more lines in report\.md/);
  assert.match(text, /INVALID/);
});
