// Runs one claim at tiny size for its test and checks what every claim owes: finite values, equal numbers of repeats per side, all
// registered metrics and sides known, rules about things that were measured, and a record that its own schema accepts.
import assert from 'node:assert/strict';
import { createLoadMonitor } from '../../harness/bench/cpu-load.js';
import { readMachineFacts } from '../../harness/bench/machine-facts.js';
import type { Claim } from '../../harness/claims/claim.js';
import { runClaims } from '../../harness/claims/run-claims.js';
import { type ClaimEntry, claimsRecordSchema } from '../../harness/contract/claims-record.js';

export interface RowRun {
  readonly entry: ClaimEntry;
  /** The values of one side. */
  readonly values: (metric: string, side: string) => readonly number[];
}

/** Fails the test when the claim failed; a claim that is not testable here is returned for the test to skip. */
export async function runRow(claim: Claim, repeats = 2): Promise<RowRun> {
  const lines: string[] = [];
  const record = await runClaims({
    claims: [claim],
    size: 'tiny',
    seed: 7,
    repeats,
    limitSeconds: 300,
    signal: new AbortController().signal,
    load: createLoadMonitor(),
    machine: readMachineFacts(),
    toolVersion: '0.0.0',
    say: (line) => lines.push(line),
    onRegistered: () => undefined,
    onEntry: () => undefined,
  });
  const [entry] = claimsRecordSchema.parse(JSON.parse(JSON.stringify(record))).claims;
  assert.ok(entry);
  if (entry.state === 'not-testable') return { entry, values: () => [] };
  assert.equal(entry.state, 'measured', `${entry.reason}\n${lines.join('\n')}`);
  const { metrics, sides, rules } = entry.registered;
  const metricIds = metrics.map(({ id }) => id);
  const sideNames = sides.map(({ name }) => name);
  for (const [metric, bySide] of Object.entries(entry.samples)) {
    assert.ok(metricIds.includes(metric), `metric ${metric} is not registered`);
    const lengths = new Set(Object.values(bySide).map((values) => values.length));
    assert.equal(lengths.size, 1, `${metric}: sides have unequal numbers of repeats`);
    for (const side of Object.keys(bySide)) assert.ok(sideNames.includes(side), `side ${side} is not registered`);
  }
  for (const rule of rules) {
    for (const side of rule.type === 'ratio' ? [rule.side, rule.to] : [rule.side])
      assert.ok((entry.samples[rule.metric]?.[side]?.length ?? 0) > 0, `rule about ${rule.metric} of ${side}: nothing was measured`);
  }
  return { entry, values: (metric, side) => entry.samples[metric]?.[side] ?? [] };
}
