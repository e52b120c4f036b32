// "TCP keepalive cut dropped Redis connections from 2.7 an hour to none": idle connections to a real redis-server behind a router that forgets
// them, and on a loopback where nobody does; then connections that die silently, idle and with a command under way. All in network namespaces.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { redisProblem } from '../../chaos/redis-rig-server.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { claimRedis } from '../rigs/claim-redis.js';
import type { IdleAnswer, IdleOrder, IdleSide } from '../rigs/idle-words.js';
import { type NetWorld, netWorldProblem, openNetWorld, SERVER_ADDRESS } from '../rigs/net-world.js';

const PORT = 6379;
const LOOK_MS = 50;
const ANSWER_MS = 60_000;

interface Sizes {
  /** TCP keepalive: idle time before the first probe. The kernel counts in seconds. */
  readonly keepAliveMs: number;
  /** The router forgets a connection that was silent for so long. */
  readonly forgetMs: number;
  readonly gapMs: number;
  readonly askMs: number;
  readonly watchMs: number;
}

async function ask<Answer extends IdleAnswer>(child: ChildProcess, order: IdleOrder): Promise<Answer> {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const answered = once(child, 'message', { signal }) as Promise<[Answer | { readonly error: string }]>;
    const ended = once(child, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`the client ended with ${code}`)));
    answered.catch(() => undefined);
    ended.catch(() => undefined);
    child.send(order);
    const [answer] = await Promise.race([answered, ended]);
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  } finally {
    ending.abort();
  }
}

/** Waits out the gap; forgets the connection once its link was silent for too long. */
async function passGap(world: NetWorld, client: number, port: number, { forgetMs, gapMs }: Sizes): Promise<void> {
  let packets = world.packets(client);
  let sinceMs = performance.now();
  let forgotten = false;
  for (const beganMs = sinceMs; performance.now() - beganMs < gapMs; ) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    const now = world.packets(client);
    if (now !== packets) {
      packets = now;
      sinceMs = performance.now();
    }
    if (!forgotten && performance.now() - sinceMs >= forgetMs) {
      forgotten = true;
      world.forget(client, port);
    }
  }
}

async function measureIn(world: NetWorld, side: IdleSide, sizes: Sizes): Promise<Taken> {
  const client = 0;
  const entry = '../claims/entries/idle-client';
  const [far, watched, near] = [world.fork(entry, client), world.fork(entry, client), world.fork(entry, null)];
  const { keepAliveMs, askMs, watchMs } = sizes;
  const open = (host: string, connections: number): IdleOrder => ({ do: 'open', side, host, keepAliveMs, connections });
  try {
    const [{ opened }] = await Promise.all([
      ask<{ readonly opened: readonly number[] }>(far, open(SERVER_ADDRESS, 1)),
      ask(near, open('127.0.0.1', 1)),
    ]);
    await passGap(world, client, opened[0] as number, sizes);
    const [behind, loopback] = await Promise.all(
      [far, near].map((child) => ask<{ readonly alive: boolean }>(child, { do: 'ask', limitMs: askMs })),
    );
    const { opened: three } = await ask<{ readonly opened: readonly number[] }>(watched, open(SERVER_ADDRESS, 3));
    for (const port of three.slice(1)) world.forget(client, port);
    const { idleMs, busyMs } = await ask<{ readonly idleMs: number; readonly busyMs: number }>(watched, { do: 'watch', limitMs: watchMs });
    return {
      'lost-behind': behind?.alive === true ? 0 : 1,
      'lost-loopback': loopback?.alive === true ? 0 : 1,
      'notice-busy-s': busyMs / 1000,
      'notice-idle-s': idleMs / 1000,
    };
  } finally {
    for (const child of [far, watched, near]) child.kill('SIGKILL');
  }
}

/** One side in a network of its own: what a killed client leaves behind (FINs that nobody takes) would be traffic on the next one's link. */
async function measure(dir: string, side: IdleSide, sizes: Sizes): Promise<Taken> {
  const world = await openNetWorld(1);
  const server = claimRedis({ dir, through: world.atServer, port: PORT });
  try {
    await server.start();
    return await measureIn(world, side, sizes);
  } finally {
    await server.remove();
    await world.close();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const sizes = context.pick<Sizes>({
    full: { keepAliveMs: 1000, forgetMs: 3000, gapMs: 5000, askMs: 3000, watchMs: 20_000 },
    quick: { keepAliveMs: 1000, forgetMs: 2500, gapMs: 4000, askMs: 2000, watchMs: 8000 },
    tiny: { keepAliveMs: 1000, forgetMs: 2500, gapMs: 4000, askMs: 2000, watchMs: 5000 },
  });
  const take = (side: IdleSide) => () => measure(context.dir, side, sizes);
  const samples = await context.interleave({ bare: take('bare'), keepalive: take('keepalive'), client: take('client') });
  return {
    samples,
    conditions: {
      router: `forgets a connection that was silent for ${sizes.forgetMs / 1000} s (real ones: minutes); each connection is idle for ${sizes.gapMs / 1000} s, then asked and given ${sizes.askMs / 1000} s`,
      keepalive: `first probe after ${sizes.keepAliveMs / 1000} s, then Node's: one a second, dead after ten unanswered`,
      'half open': `the router drops everything from one moment on; watched for ${sizes.watchMs / 1000} s, a time of ${sizes.watchMs / 1000} s means: not noticed`,
    },
    notes: [
      'The account runs Redis on the host of its workers: there the loopback is the whole way, and no router is on it to forget anything.',
      'With a command under way the kernel sends no keepalive probes: it repeats the command, for about 15 minutes by default (tcp_retries2).',
    ],
  };
}

export const keepalive0: Claim = {
  id: 'keepalive-0',
  said: { text: 'TCP keepalive on the Redis connections cut dropped connections from 2.7 an hour to none', value: 0, unit: 'an hour' },
  question: 'Do idle connections die without keepalive and live with it, and how soon is a dead one noticed?',
  register: () => ({
    sides: [
      { name: 'bare', role: 'reference', what: 'a plain TCP connection, silent between commands' },
      { name: 'keepalive', role: 'account', what: 'the same connection with TCP keepalive' },
      {
        name: 'client',
        role: 'envladder',
        what: "this project's client: asks once a second, gives a command up after 1 s and a silent connection after 2.5 s, connects anew",
      },
    ],
    metrics: [
      { id: 'lost-behind', name: 'idle connections lost behind a router that forgets', unit: 'share', better: 'lower', kind: 'share' },
      { id: 'lost-loopback', name: 'idle connections lost on the loopback', unit: 'share', better: 'lower', kind: 'share' },
      { id: 'notice-busy-s', name: 'until a dead connection is noticed, command under way', unit: 's', better: 'lower', kind: 'time' },
      { id: 'notice-idle-s', name: 'until a dead connection is noticed, idle', unit: 's', better: 'lower', kind: 'time' },
    ],
    rule: 'held when, behind a router that forgets idle connections, none with keepalive is lost and every bare one is',
    rules: [
      { type: 'value', metric: 'lost-behind', side: 'keepalive', relation: 'at-most', bound: 0 },
      { type: 'value', metric: 'lost-behind', side: 'bare', relation: 'at-least', bound: 1 },
    ],
    tests: 'direction',
    method:
      'Each side has the same connections to one redis-server through the same router, is silent for the same time, and is then asked the same; the cut is made by the router, and neither end is told.',
  }),
  needs: () => redisProblem() ?? netWorldProblem(),
  run,
};
