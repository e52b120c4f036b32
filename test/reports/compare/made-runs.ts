// Runs of a made-up program with a known speed and known noise: what comparisons and histories are tested with.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord, TierResult } from '../../../harness/contract/run-record.js';
import { type Random, seededRandom } from '../../../reports/stats/seeded-random.js';
import { fixtureRecord } from '../../fixtures/ladder-run.js';

/** Nearly normal, deviation 1, within +-6. */
export function normal(random: Random): number {
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += random();
  return sum - 6;
}

export interface Making {
  /** Ids of the runs begin with it. */
  readonly name: string;
  readonly runs: number;
  readonly seed: number;
  /** Times are multiplied, rates divided by it. */
  readonly slower?: number;
  /** Deviation of a run as a share. */
  readonly noise?: number;
  /** Last touch on each record. */
  readonly change?: (record: RunRecord, run: number) => RunRecord;
}

function atSpeed(tier: TierResult, slower: number): TierResult {
  const rate = (value: number) => value / slower;
  const time = (value: number | null) => (value === null ? null : value * slower);
  const latency = tier.step_latency_us;
  return {
    ...tier,
    sampling_sps: rate(tier.sampling_sps),
    training_sps: rate(tier.training_sps),
    goodput_sps: rate(tier.goodput_sps),
    step_latency_us: { ...latency, p50: time(latency.p50), p99: time(latency.p99) },
    time_to_all_live_s: time(tier.time_to_all_live_s),
  };
}

/** Records of the fixture's first two tiers. */
export function makeRuns({ name, runs, seed, slower = 1, noise = 0.01, change = (record) => record }: Making): RunRecord[] {
  const random = seededRandom(seed);
  const model = fixtureRecord();
  return Array.from({ length: runs }, (_, i) => {
    const tiers = model.tiers.slice(0, 2).map((tier) => atSpeed(tier, slower * (1 + noise * normal(random))));
    const id = `${name}-${String(i + 1).padStart(3, '0')}`;
    const run = {
      ...model.run,
      id,
      started_at: `2026-11-${String(1 + (i % 28)).padStart(2, '0')}T00:00:00.000Z`,
      git_commit: `${name}0000000`,
    };
    return change({ ...model, run, tiers }, i);
  });
}

/** One run folder per record, inside `dir`. */
export function writeRuns(dir: string, records: readonly RunRecord[]): void {
  for (const record of records) {
    mkdirSync(join(dir, record.run.id), { recursive: true });
    writeFileSync(join(dir, record.run.id, 'run.json'), JSON.stringify(record));
  }
}
