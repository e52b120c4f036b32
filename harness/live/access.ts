// Who may ask for what: only GET and HEAD, only under the host name that was printed (a foreign name that resolves to 127.0.0.1 is a DNS
// rebinding attack), only with the token. Every request passes here before anything else looks at it.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { EnvladderError } from '../contract/errors.js';

/** 256 bits, so that guessing is hopeless at any rate. */
const TOKEN_BYTES = 32;
export const TOKEN_VARIABLE = 'ENVLADDER_LIVE_TOKEN';
const MIN_OWN_TOKEN_CHARS = 16;
const MAX_OWN_TOKEN_CHARS = 200;
const MAX_URL_CHARS = 2048;

/** The token: the user's own from the environment variable, or a fresh one. Throws `bad-usage` for one that is too weak or odd. */
export function liveToken(own: string | undefined): string {
  if (own === undefined || own === '') return randomBytes(TOKEN_BYTES).toString('base64url');
  if (own.length >= MIN_OWN_TOKEN_CHARS && own.length <= MAX_OWN_TOKEN_CHARS && /^[\w.~-]+$/.test(own)) return own;
  throw new EnvladderError(
    'bad-usage',
    `${TOKEN_VARIABLE}: a token of ${own.length} characters; it must have ${MIN_OWN_TOKEN_CHARS} to ${MAX_OWN_TOKEN_CHARS} of A-Z a-z 0-9 _ . ~ - (or leave it unset: a fresh one is made)`,
  );
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export interface Refusal {
  readonly status: number;
  readonly why: string;
}

export interface Allowed {
  readonly path: string;
}

/** Judges requests to the server on `port` that holds `token`. */
export function createAccess(port: number, token: string): (request: IncomingMessage) => Allowed | Refusal {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  const expected = digest(token);
  // Digests have one length, so the comparison takes the same time whatever was sent.
  const isToken = (text: string | null | undefined): boolean => timingSafeEqual(digest(text ?? ''), expected);

  return (request) => {
    const { method, url = '', headers } = request;
    const [host = '', ...moreHosts] = request.headersDistinct.host ?? [];
    if (!hosts.has(host.toLowerCase()) || moreHosts.length > 0) return { status: 403, why: 'unknown host name' };
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, why: 'this server only shows' };
    if (url.length > MAX_URL_CHARS || !url.startsWith('/')) return { status: 400, why: 'bad address' };
    const [path = '', query = ''] = url.split('?', 2);
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (!isToken(bearer ?? new URLSearchParams(query).get('token'))) return { status: 403, why: 'the token is missing or wrong' };
    return { path };
  };
}
