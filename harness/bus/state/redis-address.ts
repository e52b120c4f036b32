// Where the Redis of a run is: the plan's address or the environment's, taken apart and checked. Knows nothing of the client, so that whoever
// only looks at a plan does not load it.
import { EnvladderError } from '../../contract/errors.js';

export interface RedisAddress {
  readonly tls: boolean;
  readonly path?: string;
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
}

/** What a worker's environment says about where to beat; the supervisor puts it there. */
export const BEAT_ENVIRONMENT = {
  url: 'ENVLADDER_REDIS_URL',
  prefix: 'ENVLADDER_REDIS_PREFIX',
} as const;

/** The plan's address, or the environment's ENVLADDER_REDIS_URL, which wins. */
export function redisUrl(planned: string | undefined, environment: NodeJS.ProcessEnv): string | undefined {
  const given = environment[BEAT_ENVIRONMENT.url]?.trim();
  return given === undefined || given === '' ? planned : given;
}

/** Throws `bad-plan` in words that do not hold the address's password. */
export function parseRedisUrl(url: string): RedisAddress {
  let parsed: URL;
  let username: string;
  let password: string;
  try {
    parsed = new URL(url);
    username = decodeURIComponent(parsed.username);
    password = decodeURIComponent(parsed.password);
  } catch {
    throw refuse('it is no URL');
  }
  const secrets = { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
  if (parsed.protocol === 'unix:') {
    if (parsed.pathname.length < 2 || !['', 'localhost'].includes(parsed.hostname)) throw refuse('a socket is written unix:///path');
    return { tls: false, path: decodeURIComponent(parsed.pathname), db: dbOf(parsed.searchParams.get('db') ?? ''), ...secrets };
  }
  if (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:') throw refuse(`'${parsed.protocol}' is not redis:, rediss: or unix:`);
  if (parsed.hostname === '') throw refuse('it names no host');
  return {
    tls: parsed.protocol === 'rediss:',
    host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: parsed.port === '' ? 6379 : Number(parsed.port),
    db: dbOf(parsed.pathname.slice(1)),
    ...secrets,
  };
}

function dbOf(text: string): number {
  if (text === '') return 0;
  if (!/^\d{1,5}$/.test(text)) throw refuse('a database is a number');
  return Number(text);
}

function refuse(why: string): EnvladderError {
  return new EnvladderError('bad-plan', `redis url: ${why}; write redis://host:port/db, rediss://... or unix:///path`);
}

/** For messages: where it is, without who we are there. */
export function shownRedis({ tls, path, host, port, db }: RedisAddress): string {
  return path === undefined ? `${tls ? 'rediss' : 'redis'}://${host}:${port}/${db}` : `unix://${path}`;
}
