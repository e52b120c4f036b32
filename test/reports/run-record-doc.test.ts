import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runRecordJsonSchema, runRecordSchema } from '../../harness/contract/run-record.js';
import { sumBalance } from '../../reports/stats/balance-sum.js';
import { printSchema, SCHEMA_PATH } from '../../scripts/print-run-record-schema.js';
import { fixtureRecord, hostileRun, invalidRun, oneTier, sevenTiers, unmeasured } from '../fixtures/ladder-run.js';

test('the committed JSON Schema is the one the code prints', () => {
  // Goal: docs/run-record.schema.json can be relied on by tools; to bring it up to date: node --import tsx scripts/print-run-record-schema.ts
  assert.equal(readFileSync(SCHEMA_PATH, 'utf8'), printSchema());
});

test('every field of the record is explained in docs/run-record.md', () => {
  // Goal: a new field cannot be added without a word on what it means.
  const page = readFileSync(new URL('../../docs/run-record.md', import.meta.url), 'utf8');
  const names = new Set<string>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name);
      walk(value);
    }
  };
  walk(runRecordJsonSchema());
  assert.ok(names.size > 60);
  assert.deepEqual(
    [...names].filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});

test('a record of version 1.0 still reads: what came later has a default', () => {
  // Goal: a minor version adds and never takes away.
  const { slo_verdict, headline, contract_sha256, warnings, ...old } = fixtureRecord();
  const tiers = old.tiers.map(({ slos, least_frames_per_env, machine_load, warnings: ofTier, ...tier }) => tier);
  assert.deepEqual([slo_verdict, headline?.text, contract_sha256?.length, warnings], ['met', 'holds 7,000', 64, []]);
  const read = runRecordSchema.parse({ ...old, schema_version: '1.0.0', tiers });
  assert.deepEqual([read.slo_verdict, read.headline, read.contract_sha256, read.warnings], ['none', null, null, []]);
  for (const tier of read.tiers)
    assert.deepEqual([tier.slos, tier.least_frames_per_env, tier.machine_load, tier.warnings], [[], null, null, []]);
});

test('the fixture and its variants are records, and the fixture adds up', () => {
  // Goal: reports are tested on what a run can really write.
  for (const record of [fixtureRecord(), oneTier(), sevenTiers().record, invalidRun(), unmeasured(), hostileRun().record])
    runRecordSchema.parse(record);
  const record = fixtureRecord();
  assert.ok(record.balance);
  for (const balance of [record.balance, ...record.tiers.map((tier) => tier.balance)]) assert.equal(sumBalance(balance).gap, 0);
  for (const tier of record.tiers)
    assert.equal(
      tier.latency_histogram.count.reduce((a, b) => a + b, 0),
      tier.agent_steps,
    );
});
