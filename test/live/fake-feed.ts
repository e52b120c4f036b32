// A run that never took place: a source whose state tests set by hand, with a server in front of it and a client that speaks HTTP plainly.
import { type IncomingMessage, request } from 'node:http';
import type { LiveSource, LiveStatus, LiveTier } from '../../harness/live/live-feed.js';
import { type LiveServer, type LiveServerOptions, startLiveServer } from '../../harness/live/live-server.js';

export interface FakeFeed {
  readonly source: LiveSource;
  readonly states: Uint8Array;
  status: LiveStatus;
  tiers: LiveTier[];
}

export function fakeFeed(envs = 12, entries: readonly string[] = ['cartpole', 'field'], label = 'Day 1'): FakeFeed {
  const states = new Uint8Array(envs).fill(1);
  const half = Math.ceil(envs / 2);
  const feed: FakeFeed = {
    states,
    tiers: [],
    status: {
      phase: 'measuring',
      tier: 0,
      label,
      envs,
      live: envs,
      quarantined: 0,
      runSeconds: 3,
      tierSeconds: 1,
      plannedSeconds: 10,
      etaSeconds: 9,
      samplingSps: 52_100,
      trainingSps: 41_000,
      batchFill: 0.93,
      updates: 4,
      restarts: 0,
      memoryBytes: 2 ** 30,
      kinds: { [entries[0] ?? '']: { episodes: 5, recentReturn: 21.5 } },
    },
    source: {
      head: {
        runId: 'fake-run',
        plan: 'fake',
        command: 'envladder ladder',
        tiers: [{ label, envs, seconds: 10 }],
        entries,
        envs,
        ranges: [
          { first: 0, count: half, entry: entries[0] ?? '', worker: 0 },
          { first: half, count: envs - half, entry: entries[1] ?? '', worker: 1 },
        ],
      },
      status: () => feed.status,
      tiers: () => feed.tiers,
      envStates: () => states,
    },
  };
  return feed;
}

/** Opens a server at a free port. `lookEveryMs` is short: tests wait for frames, not for seconds. */
export function openServer(options: Partial<LiveServerOptions> = {}): Promise<LiveServer> {
  return startLiveServer({
    port: 0,
    page: true,
    metrics: true,
    token: undefined,
    lookEveryMs: 10,
    onTrouble: (message) => {
      throw new Error(message);
    },
    ...options,
  });
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** One request, its whole answer. */
export function ask(server: LiveServer, path: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

export const withToken = (server: LiveServer, path: string): string => `${path}?token=${server.token}`;

export interface Heard {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface Stream {
  readonly status: number;
  /** The next event of any name. Rejects when the stream ends first. */
  next(): Promise<Heard>;
  /** Everything that came, comments too. */
  raw(): string;
  readonly ended: Promise<void>;
  stop(): void;
}

/** Opens the event stream. */
export function openStream(server: LiveServer, lastId?: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
    const asked = request(
      { host: '127.0.0.1', port: server.port, path: withToken(server, '/events'), headers, agent: false },
      (response) => {
        let text = '';
        let used = 0;
        const waiting: { done: (heard: Heard) => void; fail: (error: Error) => void }[] = [];
        const heard: Heard[] = [];
        let over = false;
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more;
          for (let end = text.indexOf('\n\n', used); end >= 0; end = text.indexOf('\n\n', used)) {
            const block = text.slice(used, end);
            used = end + 2;
            const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
            if (!/^data: /m.test(block)) continue;
            const one = { id: field('id'), event: field('event'), data: field('data') };
            const first = waiting.shift();
            if (first === undefined) heard.push(one);
            else first.done(one);
          }
        });
        const ended = new Promise<void>((done) => {
          response.on('close', () => {
            over = true;
            for (const { fail } of waiting) fail(new Error(`the stream ended after:\n${text.slice(-500)}`));
            done();
          });
          response.on('error', () => undefined);
        });
        resolve({
          status: response.statusCode ?? 0,
          ended,
          raw: () => text,
          stop: () => asked.destroy(),
          next: () => {
            const known = heard.shift();
            if (known !== undefined) return Promise.resolve(known);
            if (over) return Promise.reject(new Error('the stream has ended'));
            return new Promise((done, fail) => waiting.push({ done, fail }));
          },
        });
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}
