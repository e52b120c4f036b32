// Goal: a report of a run on a rig shows which stack it was and what each slice used; a report of any other run says nothing of rigs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RunRecord, runRecordSchema } from '../../harness/contract/run-record.js';
import { rigHtml, rigMarkdown } from '../../reports/render/rig-section.js';
import { fixtureRecord } from '../fixtures/ladder-run.js';

const use = { cpu_s: 12.5, cpu_system_s: 1.5, throttled_s: 0, memory_peak_bytes: 3 * 2 ** 30, memory_bytes: 2 * 2 ** 30, oom_kills: 0 };

function onRig(): RunRecord {
  const record = runRecordSchema.parse(fixtureRecord());
  const tiers = record.tiers.map((tier) => ({ ...tier, slices: { workers: use, learner: { ...use, memory_peak_bytes: null } } }));
  const facts = { gpus: 4, gpu_driver: '525.85.12', gpu_names: '<b>4 A100</b>' };
  return { ...record, tiers, rig: { config_hash: '0123456789abcdef', facts, slices: { workers: { ...use, cpu_s: 90 } } } };
}

test('both forms show config hash, facts and the use of each slice by tier and over the run', () => {
  const record = onRig();
  for (const text of [rigHtml(record), rigMarkdown(record)]) {
    for (const part of ['0123456789abcdef', '525.85.12', 'workers', 'learner', '3.00 GiB', '12.5 s', 'the whole run'])
      assert.ok(text.includes(part), `${part} is missing in ${text}`);
    assert.ok(!text.includes('<b>'), 'text from the host stays text');
  }
});

test('a run without a rig has no such section, and one whose slices could not be read says so', () => {
  const record = runRecordSchema.parse(fixtureRecord());
  assert.deepEqual([rigHtml(record), rigMarkdown(record)], ['', '']);
  const unread: RunRecord = { ...record, rig: { config_hash: null, facts: {}, slices: null } };
  assert.match(rigMarkdown(unread), /not known to whoever started the run[\s\S]*was not read/);
});
