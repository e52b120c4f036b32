import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32c } from '../../reports/render/tensorboard/crc32c.js';
import { distributionOf, distributionOfPairs } from '../../reports/render/tensorboard/distributions.js';
import { renderEventFile } from '../../reports/render/tensorboard/event-file.js';
import { int64Field } from '../../reports/render/tensorboard/proto-writer.js';
import { renderReport } from '../../reports/render-report.js';
import { copyOfFixture, fixtureMetrics, fixtureRecord, folderOf, hostileRun, unmeasured } from '../fixtures/ladder-run.js';
import { pythonWith } from '../fixtures/python-packages.js';

const PACKAGES = ['tensorboard==2.21.0', 'prometheus_client==0.26.0'];
const READER = fileURLToPath(new URL('./read-events.py', import.meta.url));

interface Seen {
  readonly scalars: Record<string, [wallS: number, step: number, value: number][]>;
  readonly histograms: Record<string, [wallS: number, step: number, count: number, min: number, max: number, inBuckets: number][]>;
  readonly families: [name: string, type: string, samples: number][];
}

function open(python: string, dir: string): Seen {
  renderReport(dir, { formats: ['tensorboard', 'prometheus'] });
  const run = spawnSync(python, [READER, join(dir, 'tensorboard'), join(dir, 'metrics.prom')], { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(run.status, 0, run.stderr);
  assert.ok(!/WARNING|Corrupt|DataLoss/i.test(run.stderr), run.stderr);
  return JSON.parse(run.stdout) as Seen;
}

test('checksums, varints and distributions are those of the formats', () => {
  // Goal: the parts are right by themselves: RFC 3720's vectors, the protobuf guide's example, counts that add up.
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.deepEqual([...int64Field(1, 150)], [0x08, 0x96, 0x01]);
  assert.deepEqual([...int64Field(2, 2 ** 53 - 1)], [0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]);
  const spread = distributionOf([1, 2, 2, 4, 10]);
  assert.ok(spread);
  assert.deepEqual([spread.min, spread.max, spread.sum, spread.sumSquares], [1, 10, 19, 125]);
  assert.equal(
    spread.count.reduce((a, b) => a + b),
    5,
  );
  spread.limit.forEach((limit, i) => {
    const atMost = spread.count.slice(0, i + 1).reduce((a, b) => a + b);
    assert.equal(atMost, [1, 2, 2, 4, 10].filter((sample) => sample <= limit).length, `up to ${limit}`);
  });
  assert.deepEqual(distributionOf([3, 3])?.count, [2]);
  assert.equal(distributionOf([]), undefined);
  assert.deepEqual(distributionOfPairs({ value_us: [30, 10, 20], count: [1, 4, 0] }), {
    min: 10,
    max: 30,
    sum: 70,
    sumSquares: 1300,
    limit: [20, 30],
    count: [4, 1],
  });
});

test('the real tensorboard and the real Prometheus client open what a run leaves behind', { timeout: 600_000 }, (t) => {
  // Goal: the files are what these programs take, with the run's own figures in them; hostile names included.
  const found = pythonWith(PACKAGES);
  if ('reason' in found) return t.skip(`SKIPPED(${found.reason})`);
  const dir = copyOfFixture();
  const record = fixtureRecord();
  const metrics = fixtureMetrics();
  const { scalars, histograms, families } = open(found.python, dir);
  for (const kind of Object.keys(record.tiers[0]?.kinds ?? {})) {
    const wanted = metrics.filter((line) => line.kinds[kind]?.return_mean != null);
    const points = scalars[`return_mean/${kind}`] ?? [];
    assert.deepEqual(
      points.map(([, step]) => step),
      wanted.map((line) => line.published),
    );
    points.forEach(([wallS, , value], i) => {
      assert.equal(value, Math.fround(wanted[i]?.kinds[kind]?.return_mean ?? Number.NaN));
      assert.ok(Math.abs(wallS - (Date.parse(record.run.started_at) / 1000 + (wanted[i]?.t_s ?? 0))) < 1e-6);
    });
    const overRun = histograms[`returns/${kind}`] ?? [];
    assert.ok(overRun.length > 10, 'one ridge per window');
    assert.equal(
      overRun.reduce((sum, [, , count]) => sum + count, 0),
      wanted.length,
      'every line is in one window',
    );
    for (const tier of record.tiers) {
      const own = wanted.filter((line) => line.tier === tier.tier).map((line) => line.kinds[kind]?.return_mean ?? Number.NaN);
      const [group] = histograms[`returns_of_tier ${tier.tier}: ${tier.label}/${kind}`] ?? [];
      assert.deepEqual(group?.slice(2), [own.length, Math.min(...own), Math.max(...own), own.length]);
    }
  }
  for (const tier of record.tiers)
    assert.equal(histograms[`step_latency_us/${tier.tier}: ${tier.label}`]?.[0]?.[2], tier.agent_steps, 'the whole histogram of the tier');
  assert.deepEqual(
    scalars['by_envs/sampling_sps']?.map(([, step, value]) => [step, value]),
    record.tiers.map((tier) => [tier.envs, Math.fround(tier.sampling_sps)]),
  );
  assert.equal(families.find(([name]) => name === 'envladder_tier_step_latency_seconds')?.[1], 'histogram');
  assert.ok(families.length > 20 && families.every(([name]) => name.startsWith('envladder_')));

  const hostile = hostileRun();
  const torn = open(found.python, folderOf(hostile.record, hostile.metrics));
  assert.ok(Object.keys(torn.scalars).some((tag) => tag.startsWith('return_mean/<script>')));
  const nothing = open(found.python, folderOf(unmeasured(), null));
  assert.deepEqual([nothing.scalars, nothing.histograms], [{}, {}]);

  // The check itself: one bit in the middle, and the package does not read on as if nothing were wrong.
  const path = join(dir, 'tensorboard', renderEventFile({ record, metrics }).name);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  const broken = mkdtempSync(join(tmpdir(), 'envladder-flipped-'));
  writeFileSync(join(broken, 'events.out.tfevents.1.envladder'), bytes);
  const run = spawnSync(found.python, [READER, broken, join(dir, 'metrics.prom')], { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.ok(run.status !== 0 || Object.keys((JSON.parse(run.stdout) as Seen).scalars).length < Object.keys(scalars).length);
});

test('steps never fall and stay whole numbers, whatever the counter says', () => {
  // Goal: TensorBoard hides what comes before a fall; a damaged line must not cost the curve.
  const metrics = fixtureMetrics().slice(0, 4);
  const published = [100, 50, 1e300, -7];
  const odd = metrics.map((line, i) => ({ ...line, published: published[i] ?? 0, kinds: {}, losses: {}, memory_bytes: {} }));
  const steps = stepsOf(renderEventFile({ record: { ...fixtureRecord(), tiers: [] }, metrics: odd }).bytes);
  assert.deepEqual(steps.slice(0, 4), [100, 100, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
});

/** Field 2 of each event after the first: 9 bytes of wall time, then the varint. */
function stepsOf(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const steps: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Number(view.getBigUint64(at, true));
    if (view.getUint8(at + 12 + 9) === 0x10) {
      let step = 0;
      for (let i = at + 12 + 10, scale = 1; ; i++, scale *= 128) {
        const byte = view.getUint8(i);
        step += (byte & 0x7f) * scale;
        if (byte < 0x80) break;
      }
      steps.push(step);
    }
    at += 12 + length + 4;
  }
  return steps;
}
