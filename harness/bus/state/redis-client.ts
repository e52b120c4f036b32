// The one place that knows how this project speaks to Redis: every client is made here. The settings keep a server that is down, frozen,
// half-open or slow from costing more than the view of the state: a command fails within a second, a silent connection within three,
// nothing is queued while there is no connection, nothing is sent twice. Passwords never leave this file.
import { Redis } from 'ioredis';
import { parseRedisUrl, shownRedis } from './redis-address.js';

/** A heartbeat that takes longer than the interval between two is worth nothing. */
export const COMMAND_TIMEOUT_MS = 1_000;
/** Above the command's, so that a slow answer does not cost the connection; a half-open connection is noticed by it. */
export const SOCKET_TIMEOUT_MS = 2_500;
const CONNECT_TIMEOUT_MS = 2_000;
const RETRY_FIRST_MS = 50;
/** With the times above a server that is back is found within 10 s. */
const RETRY_LONGEST_MS = 2_000;

export interface RedisLink {
  readonly client: Redis;
  /** Why there is no connection, in words without secrets; null while there is one. */
  trouble(): string | null;
  /** Commands written and not answered. */
  pending(): number;
  close(): void;
}

/** An error of the client in one line. Never the error itself: it carries the arguments of its command, AUTH's too. */
export function redisWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' && !message.includes(code) ? `${code} ${message}` : message;
  if (/^(WRONGPASS|NOAUTH)|invalid (username-)?password/i.test(known)) return `the password is missing or wrong (${known})`;
  return known.split('\n')[0]?.slice(0, 200) || code?.toString() || 'unknown error';
}

/** Opens a connection that comes back by itself until it is closed. `onReady`: each time there is a connection. */
export function openRedis(url: string, name: string, onReady: (client: Redis) => void = () => undefined): RedisLink {
  const address = parseRedisUrl(url);
  const where = shownRedis(address);
  let trouble: string | null = `Redis at ${where}: not connected yet`;
  const client = new Redis({
    ...(address.path === undefined ? { host: address.host ?? 'localhost', port: address.port ?? 6379 } : { path: address.path }),
    ...(address.tls ? { tls: {} } : {}),
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    db: address.db,
    connectionName: name,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disconnectTimeout: 500,
    keepAlive: 5_000,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    disableClientInfo: true,
    retryStrategy: (times) => Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** Math.min(times - 1, 10)) * (0.5 + Math.random() / 2),
  });
  client.on('error', (error) => {
    trouble = `Redis at ${where}: ${redisWords(error)}`;
  });
  client.on('close', () => {
    trouble ??= `Redis at ${where}: the connection was lost`;
  });
  client.on('ready', () => {
    trouble = null;
    onReady(client);
  });
  client.connect().catch(() => undefined);
  return {
    client,
    trouble: () => trouble,
    pending: () => {
      const { commandQueue, offlineQueue } = client as unknown as Record<'commandQueue' | 'offlineQueue', { readonly length: number }>;
      return commandQueue.length + offlineQueue.length;
    },
    close: () => client.disconnect(),
  };
}
