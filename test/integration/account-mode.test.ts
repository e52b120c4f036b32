// One outage of Redis, two ways to notice deaths: the account's heartbeats take it for the death of every worker, progress in shared memory
// does not notice it. Real ladders from the command line; what `envladder claims` will compare.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openRedisStateStore } from '../../harness/bus/state/redis-state-store.js';
import { type RunRecord, runRecordSchema } from '../../harness/contract/run-record.js';
import { eventsOf, markedPids, startCli } from '../cli/run-cli.js';
import { NO_REDIS, startRedis } from '../fixtures/redis-server.js';
import { until } from '../fixtures/until.js';

const WORKERS = 2;
/** Long against what a loaded machine delays a beat by. */
const LIMIT_SECONDS = 4;

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-account-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** A ladder whose Redis goes away for good once it climbs; it is ended `when` says so. */
async function ladderWithoutRedis(mode: 'account' | 'progress', when: (types: readonly string[], outageMs: number) => boolean) {
  const server = await startRedis();
  const dir = join(root, mode);
  const plan = join(root, `${mode}.yaml`);
  const account = { beatSeconds: 0.2, scanSeconds: 0.3, limitSeconds: LIMIT_SECONDS };
  writeFileSync(
    plan,
    JSON.stringify({
      name: mode,
      tiers: [8],
      seconds: 600,
      mix: { cartpole: 1 },
      workers: WORKERS,
      learner: 'random',
      drainSeconds: 2,
      redis: { url: server.url, prefix: 't' },
      health: { mode, account, graceSeconds: 0.2, backoff: { baseSeconds: 5, maxSeconds: 30 } },
    }),
  );
  const running = startCli(['ladder', '--plan', plan, '--out', dir, '--json'], { cwd: root, env: { ENVLADDER_REDIS_URL: '' } });
  const types = (): string[] => {
    try {
      return eventsOf(dir).map(({ type }) => type);
    } catch {
      // Not there yet, or just being made.
      return [];
    }
  };
  try {
    await running.until('the first tier is live', () => types().includes('tier-live'));
    if (mode === 'account') await allBeat(server.url, dir);
    const before = types();
    await server.kill();
    const goneAtMs = performance.now();
    await running.until('the end of the outage', () => when(types().slice(before.length), performance.now() - goneAtMs));
    running.child.kill('SIGINT');
    const { stdout } = await running.ended;
    const record: RunRecord = runRecordSchema.parse(JSON.parse(stdout));
    return { before, record, events: eventsOf(dir).slice(before.length), left: markedPids(running.mark) };
  } finally {
    for (const pid of markedPids(running.mark)) process.kill(pid, 'SIGKILL');
    await server.remove();
  }
}

/** The run id stands in the first event. */
async function allBeat(url: string, dir: string): Promise<void> {
  const runId = /^run (\S+):/.exec(eventsOf(dir)[0]?.message ?? '')?.[1] ?? '';
  const store = openRedisStateStore({ url, prefix: 't', runId });
  try {
    await until(async () => (await store.readBeats().catch(() => new Map())).size === WORKERS);
  } finally {
    store.close();
  }
}

const deathsIn = (types: readonly string[]): number => types.filter((type) => type === 'worker-died').length;

describe('a ladder whose Redis goes away', { timeout: 240_000, skip: NO_REDIS }, () => {
  it('in mode account, kills every worker, and none of them was dead', async () => {
    // Goal: silence of Redis is taken for silence of the workers: this is what the account built, on the real wiring of plan and ladder.
    const { before, record, events, left } = await ladderWithoutRedis('account', (types) => deathsIn(types) >= WORKERS);
    assert.equal(deathsIn(before), 0, 'with Redis there nobody died');
    const first = record.deaths.slice(0, WORKERS);
    assert.deepEqual(
      first.map(({ role, cause }) => [role, cause]),
      first.map(() => ['worker', 'heartbeat']),
    );
    assert.deepEqual(first.map(({ worker }) => worker).sort(), [0, 1], 'all of them');
    const suspects = events.filter(({ type }) => type === 'worker-suspect');
    assert.ok(suspects.length >= WORKERS && suspects.every(({ message }) => /sent no heartbeat for \d/.test(message)));
    assert.ok(events.some(({ type, message }) => type === 'warning' && /no heartbeats can be read: Redis at/.test(message)));
    assert.deepEqual(left, []);
  });

  it('in mode progress, for longer than that limit, loses nobody', async () => {
    // Goal: the same plan and the same outage, judged by what workers do.
    const { record, events, left } = await ladderWithoutRedis(
      'progress',
      (types, outageMs) => types.includes('state-lost') && outageMs > 2 * LIMIT_SECONDS * 1000,
    );
    assert.deepEqual(record.deaths, []);
    assert.deepEqual(
      events.filter(({ type }) => /died|suspect|restarted|state/.test(type)).map(({ type }) => type),
      ['state-lost'],
    );
    assert.ok((record.balance?.published ?? 0) > 0);
    assert.deepEqual(left, []);
  });
});
