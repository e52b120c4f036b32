// A client with connections to Redis that mostly say nothing: opens them, asks on one of them after a silence, and tells how long it took to
// notice that one is dead. Lives where its parent put it (a network namespace), and ends with it.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { openRedis } from '../../bus/state/redis-client.js';
import type { IdleAnswer, IdleOrder } from '../rigs/idle-words.js';

const PORT = 6379;
/** The mirror of a run writes this often: its connection is never silent for longer. */
const ASK_EVERY_MS = 1000;

interface Connection {
  readonly port: number;
  /** Resolves when an answer came on this very connection; rejects when the client gives the question up. */
  ask(): Promise<void>;
  /** Resolves when the client knows that it is dead. */
  readonly dead: Promise<void>;
}

async function openPlain(host: string, keepAliveMs: number | null): Promise<Connection> {
  const socket = createConnection({ host, port: PORT, noDelay: true });
  await once(socket, 'connect');
  if (keepAliveMs !== null) socket.setKeepAlive(true, keepAliveMs);
  const waiting: (() => void)[] = [];
  socket.on('data', () => waiting.shift()?.());
  socket.on('error', () => undefined);
  const dead = new Promise<void>((done) => socket.once('close', () => done()));
  return {
    port: socket.localPort as number,
    dead,
    async ask() {
      const answered = new Promise<void>((done) => waiting.push(done));
      socket.write('PING\r\n');
      await Promise.race([answered, dead.then(() => Promise.reject(new Error('closed')))]);
    },
  };
}

async function openClient(host: string): Promise<Connection> {
  const link = openRedis(`redis://${host}:${PORT}`, 'envladder-claims');
  const { client } = link;
  if (client.status !== 'ready') await once(client, 'ready');
  const { stream } = client as unknown as { readonly stream: Socket };
  const dead = new Promise<void>((done) => client.once('close', () => done()));
  const ask = async (): Promise<void> => {
    await client.ping();
    if ((client as unknown as { readonly stream: Socket }).stream !== stream) throw new Error('answered on another connection');
  };
  setInterval(() => void client.ping().catch(() => undefined), ASK_EVERY_MS);
  return { port: stream.localPort as number, dead, ask };
}

const connections: Connection[] = [];

/** Resolves with the time until `sign`, at most `limitMs`. */
async function timeTo(sign: Promise<unknown>, limitMs: number): Promise<number> {
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([sign, new Promise((late) => (timer = setTimeout(late, limitMs)))]);
  clearTimeout(timer);
  return Math.min(limitMs, performance.now() - began);
}

async function obey(order: IdleOrder): Promise<IdleAnswer> {
  if (order.do === 'open') {
    for (let i = 0; i < order.connections; i++) {
      const open =
        order.side === 'client' ? openClient(order.host) : openPlain(order.host, order.side === 'keepalive' ? order.keepAliveMs : null);
      connections.push(await open);
    }
    for (const connection of connections) await connection.ask();
    return { opened: connections.map(({ port }) => port) };
  }
  const [first, idle, busy] = connections as [Connection, Connection, Connection];
  if (order.do === 'ask') {
    let alive = false;
    const answer = first.ask().then(
      () => (alive = true),
      () => undefined,
    );
    await timeTo(answer, order.limitMs);
    return { alive };
  }
  const failed = busy.ask().catch(() => undefined);
  const [idleMs, busyMs] = await Promise.all([timeTo(idle.dead, order.limitMs), timeTo(Promise.race([failed, busy.dead]), order.limitMs)]);
  return { idleMs, busyMs };
}

process.on('disconnect', () => process.exit(0));
process.on('message', (order: IdleOrder) => {
  obey(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
