// "A Redis pipeline cuts the jitter of the heartbeats from +-200 ms to +-5 ms": 7,000 heartbeats that are due at once, sent one after the other,
// written without waiting, in one pipeline, and packed into one value, to a redis-server of the claim's own.

import { packEnvs } from '../../bus/state/env-pack.js';
import { openRedis } from '../../bus/state/redis-client.js';
import { quantile } from '../../chaos/quantile.js';
import { redisProblem } from '../../chaos/redis-rig-server.js';
import { until } from '../../chaos/until.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { claimRedis } from '../rigs/claim-redis.js';

const CONNECT_MS = 10_000;
const KEY = 'claims:beats';

type Client = ReturnType<typeof openRedis>['client'];

/** Sends a heartbeat of each of `envs` envs and calls `acked(count)` whenever some of them are acknowledged. */
type Send = (client: Client, envs: number, acked: (count: number) => void) => Promise<void>;

const field = (env: number): string => `env:${env}`;

/** Each waits for the answer to the one before: a client without a pipeline. */
const single: Send = async (client, envs, acked) => {
  for (let env = 0; env < envs; env++) {
    await client.hset(KEY, field(env), String(Date.now()));
    acked(1);
  }
};

/** Nobody waits for anybody, and nothing is bundled on purpose. */
const unawaited: Send = async (client, envs, acked) => {
  const all: Promise<void>[] = [];
  for (let env = 0; env < envs; env++) all.push(client.hset(KEY, field(env), String(Date.now())).then(() => acked(1)));
  await Promise.all(all);
};

const pipeline: Send = async (client, envs, acked) => {
  const bundle = client.pipeline();
  for (let env = 0; env < envs; env++) bundle.hset(KEY, field(env), String(Date.now()));
  const answers = (await bundle.exec()) ?? [];
  const refused = answers.find(([error]) => error !== null)?.[0];
  if (refused !== undefined && refused !== null) throw refused;
  acked(answers.length);
};

/** As this project's mirror writes them: the frames of all envs as a few packed values of one hash. */
const packed: Send = async (client, envs, acked) => {
  const chunks = packEnvs({ frames: new Float64Array(envs).fill(Date.now()), states: new Uint8Array(envs) });
  await client.hset(`${KEY}:packed`, { ...chunks });
  acked(envs);
};

const SENDS = { single, unawaited, pipeline, packed } as const;

interface Sizes {
  readonly envs: number;
  readonly beats: number;
  readonly periodMs: number;
}

/** Lateness of every heartbeat: from when it is due to when it is acknowledged. Beats that last longer than a period push the next one. */
async function measure(client: Client, send: Send, { envs, beats, periodMs }: Sizes): Promise<Taken> {
  const late: number[] = [];
  const rounds: number[] = [];
  let dueMs = performance.now() + periodMs;
  for (let beat = 0; beat < beats; beat++) {
    await new Promise((done) => setTimeout(done, Math.max(0, dueMs - performance.now())));
    // Timers come up to a millisecond early.
    while (performance.now() < dueMs);
    await send(client, envs, (count) => {
      const lateMs = performance.now() - dueMs;
      for (let i = 0; i < count; i++) late.push(lateMs);
    });
    rounds.push(performance.now() - dueMs);
    dueMs = Math.max(dueMs + periodMs, performance.now());
  }
  if (late.length !== envs * beats) throw new Error(`${late.length} heartbeats were acknowledged, ${envs * beats} were sent`);
  const at = (share: number): number => quantile(late, share) ?? Number.NaN;
  return { 'jitter-ms': (at(0.975) - at(0.025)) / 2, 'late-p50-ms': at(0.5), 'round-ms': quantile(rounds, 0.5) ?? Number.NaN };
}

async function run(context: ClaimContext): Promise<Measured> {
  const sizes = context.pick<Sizes>({
    full: { envs: 7000, beats: 6, periodMs: 500 },
    quick: { envs: 7000, beats: 4, periodMs: 300 },
    tiny: { envs: 200, beats: 2, periodMs: 20 },
  });
  const server = claimRedis({ dir: context.dir });
  await server.start();
  const link = openRedis(server.url, 'envladder-claims');
  try {
    if (!(await until(() => link.client.status === 'ready', CONNECT_MS))) throw new Error(link.trouble() ?? 'no connection to Redis');
    const take = (name: keyof typeof SENDS) => () => measure(link.client, SENDS[name], sizes);
    const samples = await context.interleave(
      { single: take('single'), unawaited: take('unawaited'), pipeline: take('pipeline'), packed: take('packed') },
      { warmUps: 1 },
    );
    return {
      samples,
      conditions: {
        heartbeats: `${sizes.envs} due at once, ${sizes.beats} times a repeat, ${sizes.periodMs} ms apart (the account: every 10 s)`,
        jitter: 'half the width of the middle 95 % of all times from due to acknowledged',
        way: 'a unix socket to a redis-server on this machine, without persistence',
      },
    };
  } finally {
    link.close();
    await server.remove();
  }
}

export const pipeline5ms: Claim = {
  id: 'pipeline-5ms',
  said: {
    text: 'putting the heartbeats of 7,000 envs into a Redis pipeline cut their jitter from +-200 ms to +-5 ms',
    value: 5,
    unit: 'ms',
  },
  question: 'How far do 7,000 heartbeats that are due at once spread in time?',
  register: () => ({
    sides: [
      { name: 'single', role: 'account', what: 'before: one HSET after the other, each waits for the answer to the one before' },
      { name: 'pipeline', role: 'account', what: 'after: all HSETs in one pipeline' },
      { name: 'unawaited', role: 'reference', what: 'one HSET after the other without waiting; the client sends what is ready' },
      { name: 'packed', role: 'envladder', what: 'all envs as a few packed values of one hash, in one command' },
    ],
    metrics: [
      { id: 'jitter-ms', name: 'jitter, +-', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'late-p50-ms', name: 'median lateness', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'round-ms', name: 'until all are stored', unit: 'ms', better: 'lower', kind: 'time' },
    ],
    rule: "held when the pipeline's jitter is at most a tenth of that of single commands; the milliseconds are of the account's hardware, its own ratio is a fortieth",
    rules: [{ type: 'ratio', metric: 'jitter-ms', side: 'pipeline', to: 'single', relation: 'at-most', bound: 0.1 }],
    tests: 'direction',
    method:
      'All sides send as many heartbeats at the same times to the same server over one connection; every one of them must be acknowledged.',
  }),
  needs: redisProblem,
  run,
};
