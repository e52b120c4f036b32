// The live page's server: loopback only, read only, behind a token. It looks at the run once a second and never the other way round: it
// cannot slow a step, keep the process alive or fail the run. Bounded: connections, header bytes, time to send a request, viewers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { EnvladderError } from '../contract/errors.js';
import { createAccess, liveToken } from './access.js';
import { createFrameMaker } from './frame-maker.js';
import type { LiveEvent, LiveSource } from './live-feed.js';
import { createMetricsText } from './metrics-text.js';
import { type PageFile, readPageFiles } from './page-files.js';
import { createViewers, type Viewer } from './viewers.js';

const HOST = '127.0.0.1';
const LOOK_EVERY_MS = 1000;
const MAX_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 8192;
/** For a whole request to come in; streams stay open longer, requests never take this long. */
const REQUEST_LIMIT_MS = 5000;
/** For goodbyes to leave at the end. */
const CLOSE_LIMIT_MS = 250;

const HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export interface LiveServerOptions {
  /** 0 = any free one. */
  readonly port: number;
  /** Serve the page and its stream. */
  readonly page: boolean;
  /** Serve /metrics. */
  readonly metrics: boolean;
  /** The user's own token (environment variable); undefined = a fresh one. */
  readonly token: string | undefined;
  readonly lookEveryMs?: number;
  /** Said once when a look fails. */
  readonly onTrouble: (message: string) => void;
}

export interface LiveServer {
  readonly port: number;
  readonly token: string;
  /** Where a person looks; null without the page. */
  readonly pageUrl: string | null;
  /** Where Prometheus looks; null without it. */
  readonly metricsUrl: string | null;
  /** The run has begun. */
  begin(source: LiveSource): void;
  note(event: LiveEvent): void;
  /** Sends the last look, says goodbye and frees the port. Never rejects. */
  close(): Promise<void>;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const what = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${cause.code ?? cause.message})`;
      reject(
        new EnvladderError('bad-usage', `--serve ${port}: port ${port} of ${HOST} ${what}; choose another, or leave the number out`, {
          cause,
        }),
      );
    });
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Opens the server. Throws `bad-usage` when the port is taken or the token is no token. */
export async function startLiveServer(options: LiveServerOptions): Promise<LiveServer> {
  const token = liveToken(options.token);
  const files: ReadonlyMap<string, PageFile> = options.page ? readPageFiles(token) : new Map<string, PageFile>();
  const viewers = createViewers();
  const frames = createFrameMaker();
  const metrics = createMetricsText();
  let source: LiveSource | null = null;

  function reply(response: ServerResponse, status: number, type: string, body: Buffer | string, more: Record<string, string> = {}): void {
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(body)), ...more });
    response.end(response.req.method === 'HEAD' ? undefined : body);
  }

  const refuse = (response: ServerResponse, status: number, why: string): void =>
    reply(response, status, 'text/plain; charset=utf-8', `${status}: ${why}\n`, {
      Connection: 'close',
      ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
      ...(status === 503 ? { 'Retry-After': '5' } : {}),
    });

  function openStream(request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'HEAD') {
      reply(response, 200, 'text/event-stream; charset=utf-8', '');
      return;
    }
    const lastId = request.headers['last-event-id'];
    if (!viewers.add(response, typeof lastId === 'string' ? lastId : '', frameFor, frames.id))
      refuse(response, 503, 'too many viewers; close another page');
  }

  let access: ReturnType<typeof createAccess> | null = null;
  function answer(request: IncomingMessage, response: ServerResponse): void {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const judged = access?.(request) ?? { status: 503, why: 'starting' };
    if ('status' in judged) {
      refuse(response, judged.status, judged.why);
      return;
    }
    const file = files.get(judged.path);
    if (file !== undefined) reply(response, 200, file.type, file.body);
    else if (options.page && judged.path === '/events') openStream(request, response);
    else if (options.metrics && judged.path === '/metrics') {
      metrics.render(frames.status, frames.eventCounts).then(
        (text) => reply(response, 200, metrics.contentType, text),
        () => refuse(response, 500, 'metrics could not be made'),
      );
    } else refuse(response, 404, 'no such page');
  }

  function answerSafely(request: IncomingMessage, response: ServerResponse): void {
    try {
      answer(request, response);
    } catch (error) {
      complain(error);
      response.destroy();
    }
  }

  const frameFor = ({ lastId }: Viewer): string | null => frames.frameFor(lastId);
  let troubled = false;
  function complain(error: unknown): void {
    if (!troubled) options.onTrouble(`the live page could not be brought up to date: ${(error as Error).message}; the run goes on`);
    troubled = true;
  }
  function look(): void {
    // A page that cannot be made is no reason to lose a run of days.
    try {
      if (source !== null) frames.look(source);
      viewers.send(frameFor, frames.id);
    } catch (error) {
      complain(error);
    }
  }

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: REQUEST_LIMIT_MS,
      headersTimeout: REQUEST_LIMIT_MS,
      keepAliveTimeout: REQUEST_LIMIT_MS,
      connectionsCheckingInterval: 1000,
    },
    answerSafely,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket: Socket) => socket.unref());
  server.on('clientError', (_, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy());
    else socket.destroy();
  });
  server.on('upgrade', (_, socket) => socket.destroy());
  const port = await listen(server, options.port);
  access = createAccess(port, token);
  server.on('error', () => undefined);
  server.unref();
  const timer = setInterval(look, options.lookEveryMs ?? LOOK_EVERY_MS);
  timer.unref();

  let closed: Promise<void> | undefined;
  function bringDown(): Promise<void> {
    clearInterval(timer);
    look();
    viewers.close();
    return new Promise((resolve) => {
      const limit = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
      server.close(() => {
        clearTimeout(limit);
        resolve();
      });
      server.closeIdleConnections();
    });
  }

  const at = (path: string): string => `http://${HOST}:${port}${path}`;
  return {
    port,
    token,
    pageUrl: options.page ? at(`/?token=${token}`) : null,
    metricsUrl: options.metrics ? at('/metrics') : null,
    begin(from) {
      source = from;
      look();
    },
    note: (event) => frames.note(event),
    close: () => (closed ??= bringDown()),
  };
}
