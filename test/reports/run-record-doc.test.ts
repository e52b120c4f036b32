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
