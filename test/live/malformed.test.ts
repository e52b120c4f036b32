// Garbage on the live page's port: whatever comes, the server answers or hangs up, looks at the run as before, and nothing is thrown.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { LiveServer } from '../../harness/live/live-server.js';
import { ask, fakeFeed, openServer, openStream, withToken } from './fake-feed.js';

const SEED = 20_261_130;

/** Sends bytes and hangs up; resolves with what came back. */
function send(port: number, bytes: Uint8Array | string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.end(bytes);
  });
}

describe('malformed requests', { timeout: 120_000 }, () => {
  let server: LiveServer;
  let looks = 0;
  const unhandled: unknown[] = [];
  const remember = (error: unknown): void => void unhandled.push(error);

  before(async () => {
    process.on('uncaughtException', remember);
    server = await openServer({ lookEveryMs: 5 });
    const feed = fakeFeed();
    server.begin({
      ...feed.source,
      status: () => {
        looks++;
        return feed.status;
      },
    });
  });
  after(async () => {
    await server.close();
    process.off('uncaughtException', remember);
  });

  /** The run is looked at and the page is served as before. */
  async function isWell(): Promise<void> {
    const before = looks;
    while (looks === before) await new Promise((later) => setImmediate(later));
    assert.equal((await ask(server, withToken(server, '/'))).status, 200);
    assert.deepEqual(unhandled, []);
  }

  it('are answered with a refusal or the end of the connection, never with content', async () => {
    const host = `Host: 127.0.0.1:${server.port}`;
    const token = `?token=${server.token}`;
    const bad: Record<string, string> = {
      nothing: '',
      'half a line': 'GET /',
      'no version': `GET /${token}\r\n\r\n`,
      'no host': `GET /${token} HTTP/1.1\r\n\r\n`,
      'no host, old': `GET /${token} HTTP/1.0\r\n\r\n`,
      'two hosts': `GET /${token} HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`,
      'a full address of another host': `GET http://evil.example/${token} HTTP/1.1\r\n${host}\r\n\r\n`,
      'an asterisk': `OPTIONS * HTTP/1.1\r\n${host}\r\n\r\n`,
      connect: `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n\r\n`,
      upgrade: `GET /${token} HTTP/1.1\r\n${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      'huge header': `GET /${token} HTTP/1.1\r\n${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'huge address': `GET /${'a'.repeat(4000)}${token} HTTP/1.1\r\n${host}\r\n\r\n`,
      'length and chunks': `POST / HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'negative length': `POST / HTTP/1.1\r\n${host}\r\nContent-Length: -1\r\n\r\n`,
      'a body too long': `POST /${token} HTTP/1.1\r\n${host}\r\nContent-Length: 99\r\n\r\n${'x'.repeat(100_000)}`,
      'split header': `GET / HTTP/1.1\r\n${host}\r\nX: a\r\nAuthorization: Bearer\r\n\r\n`,
      'percent signs': `GET /%00%2e%2e%2f%ff${token}%zz HTTP/1.1\r\n${host}\r\n\r\n`,
      'TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      expectation: `GET /${token} HTTP/1.1\r\n${host}\r\nExpect: a-pony\r\n\r\n`,
    };
    for (const [name, bytes] of Object.entries(bad)) {
      const answer = await send(server.port, bytes);
      assert.ok(answer === '' || /^HTTP\/1\.1 [45]\d\d /.test(answer), `${name}: ${answer.slice(0, 200)}`);
      assert.ok(!answer.includes('<html') && !answer.includes(server.token), name);
    }
    await isWell();
  });

  it('of any shape leave the server as it was', async () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom('GET', 'HEAD', '/', '/events', 'HTTP/1.1', 'Host:', '\r\n', ' ', '?token='),
    );
    const stream = await openStream(server);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 300 }),
          fc.array(word, { maxLength: 12 }).map((words) => words.join('')),
        ),
        async (bytes) => {
          const answer = await send(server.port, bytes);
          assert.ok(answer === '' || /^HTTP\/1\.1 [45]\d\d /.test(answer), answer.slice(0, 200));
        },
      ),
      { numRuns: 300, seed: SEED },
    );
    assert.equal((await stream.next()).event, 'frame');
    stream.stop();
    await isWell();
  });

  it('with odd Last-Event-IDs, tokens and hosts never get past the guard', async () => {
    const header = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.~:/?&=%+ "\\{}'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(header, header, async (id, token) => {
        const { status } = await ask(server, `/events?token=${encodeURIComponent(token)}`, {
          headers: { 'Last-Event-ID': id, Authorization: `Bearer ${token}` },
        });
        assert.equal(status, 403);
      }),
      { numRuns: 100, seed: SEED },
    );
    await isWell();
  });

  it('that never end are cut off, and a crowd of connections is turned away without harm', async () => {
    const sockets = Array.from({ length: 200 }, () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET /');
      return socket;
    });
    const closed = sockets.map((socket) => new Promise<void>((done) => socket.on('close', () => done())));
    await Promise.race(closed);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
    await isWell();
  });
});
