// The live page's server over real sockets: who is let in, what is streamed, and what it costs the process it lives in.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { LiveFrame } from '../../harness/live/live-feed.js';
import { type LiveServer, startLiveServer } from '../../harness/live/live-server.js';
import { createViewers, MAX_VIEWERS } from '../../harness/live/viewers.js';
import { ask, type FakeFeed, fakeFeed, openServer, openStream, withToken } from './fake-feed.js';

const PATHS = ['/', '/live.css', '/figures.css', '/live.js', '/chart.js', '/env-map.js', '/format.js', '/events', '/metrics', '/nothing'];

async function nextFrame(stream: Awaited<ReturnType<typeof openStream>>): Promise<LiveFrame & { readonly id: string }> {
  const { event, data, id } = await stream.next();
  assert.equal(event, 'frame');
  return { ...(JSON.parse(data) as LiveFrame), id };
}

describe('access to the live page', { timeout: 30_000 }, () => {
  let server: LiveServer;
  before(async () => {
    server = await openServer();
  });
  after(() => server.close());

  it('refuses every address without the token, with a wrong one, and with one that only begins like it', async () => {
    const wrong = [
      '',
      '?token=',
      '?token=wrong',
      `?token=${server.token.slice(0, -1)}`,
      `?token=${server.token}x`,
      `?Token=${server.token}`,
    ];
    for (const path of PATHS)
      for (const query of wrong) {
        const { status, body } = await ask(server, `${path}${query}`);
        assert.equal(status, 403, `${path}${query}`);
        assert.ok(!body.includes(server.token));
      }
    assert.equal((await ask(server, '/', { headers: { Authorization: 'Bearer wrong' } })).status, 403);
  });

  it('lets the token in, from the address or as a bearer', async () => {
    assert.equal((await ask(server, withToken(server, '/'))).status, 200);
    assert.equal((await ask(server, '/', { headers: { Authorization: `Bearer ${server.token}` } })).status, 200);
    assert.equal((await ask(server, withToken(server, '/nothing'))).status, 404);
    assert.equal((await ask(server, withToken(server, '/../package.json'))).status, 404);
  });

  it('shows and never takes: 405 for every other method, token or not', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const { status, headers } = await ask(server, withToken(server, '/'), { method });
      assert.equal(status, 405, method);
      assert.equal(headers.allow, 'GET, HEAD');
      assert.equal((await ask(server, '/', { method })).status, 405, method);
    }
  });

  it('answers HEAD with headers alone', async () => {
    const { status, headers, body } = await ask(server, withToken(server, '/'), { method: 'HEAD' });
    assert.deepEqual([status, body], [200, '']);
    assert.ok(Number(headers['content-length']) > 500);
    assert.equal((await ask(server, withToken(server, '/events'), { method: 'HEAD' })).status, 200);
  });

  it('refuses a foreign host name with the right token: DNS rebinding', async () => {
    for (const host of ['evil.example', `evil.example:${server.port}`, `127.0.0.1.evil.example:${server.port}`, '127.0.0.1', `127.0.0.1:1`])
      assert.equal((await ask(server, withToken(server, '/'), { headers: { Host: host } })).status, 403, host);
    assert.equal((await ask(server, withToken(server, '/'), { headers: { Host: `localhost:${server.port}` } })).status, 200);
  });

  it('listens on the loopback alone', () => {
    assert.match(server.pageUrl ?? '', /^http:\/\/127\.0\.0\.1:\d+\/\?token=/);
    const hex = server.port.toString(16).toUpperCase().padStart(4, '0');
    const table = spawnSync('cat', ['/proc/net/tcp', '/proc/net/tcp6'], { encoding: 'utf8' }).stdout;
    const listening = table.split('\n').filter((line) => line.includes(`:${hex} `) && / 0A /.test(line));
    assert.deepEqual(
      listening.map((line) => line.trim().split(/\s+/)[1]),
      [`0100007F:${hex}`],
    );
  });

  it('sends headers that forbid script of others, frames, sniffing, caching and referrers', async () => {
    const { headers } = await ask(server, withToken(server, '/'));
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });
});

describe('the event stream', { timeout: 30_000 }, () => {
  let server: LiveServer;
  let feed: FakeFeed;
  before(async () => {
    server = await openServer();
  });
  after(() => server.close());

  it('beats until the run begins', async () => {
    const stream = await openStream(server);
    const first = stream.next();
    feed = fakeFeed();
    while (!stream.raw().includes(': nothing new')) await new Promise((later) => setImmediate(later));
    server.begin(feed.source);
    assert.equal((await first).event, 'frame');
    stream.stop();
  });

  it('tells a new viewer everything, then what changes', async () => {
    const stream = await openStream(server);
    const first = await nextFrame(stream);
    assert.equal(first.whole, true);
    assert.equal(first.head?.runId, 'fake-run');
    assert.deepEqual(first.states, [1, 12]);
    feed.states[3] = 4;
    feed.status = { ...feed.status, live: 11, quarantined: 1 };
    server.note({ type: 'env-failed', message: 'env 3 broke', runSeconds: 4 });
    let later = await nextFrame(stream);
    while (later.status.quarantined === 0) later = await nextFrame(stream);
    assert.deepEqual(later.states, [1, 3, 4, 1, 1, 8]);
    assert.deepEqual(later.stateCounts, [0, 11, 0, 0, 1, 0]);
    assert.deepEqual([later.whole, later.head], [false, null]);
    assert.deepEqual(
      later.notices.map(({ message }) => message),
      ['env 3 broke'],
    );
    stream.stop();
  });

  it('tells a viewer that comes back with Last-Event-ID only what it missed', async () => {
    const stream = await openStream(server);
    const known = await nextFrame(stream);
    stream.stop();
    server.note({ type: 'warning', message: 'meanwhile', runSeconds: 5 });
    const again = await openStream(server, known.id);
    const frames = [await nextFrame(again), await nextFrame(again)];
    assert.ok(frames.every(({ whole, head }) => !whole && head === null));
    const ids = frames.flatMap(({ points }) => points.map(({ id }) => id));
    const newest = known.points.at(-1)?.id ?? 0;
    assert.deepEqual(
      ids,
      ids.map((_, index) => newest + 1 + index),
    );
    assert.deepEqual(
      frames.flatMap(({ notices }) => notices.map(({ message }) => message)),
      ['meanwhile'],
    );
    again.stop();
  });

  it('starts anew for ids of another run and for ids that are none', async () => {
    for (const id of ['ffffffffffff-3-3', 'x', '-1', `${'9'.repeat(400)}`, '{"a":1}']) {
      const stream = await openStream(server, id);
      assert.equal((await nextFrame(stream)).whole, true, id);
      stream.stop();
    }
  });

  it('has room for a fixed number of viewers and says so to the next one', async (t) => {
    const full = await openServer();
    t.after(() => full.close());
    const streams = await Promise.all(Array.from({ length: MAX_VIEWERS }, () => openStream(full)));
    assert.ok(streams.every(({ status }) => status === 200));
    const refused = await ask(full, withToken(full, '/events'));
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '5']);
    for (const stream of streams) stream.stop();
    await Promise.all(streams.map(({ ended }) => ended));
    let again = await openStream(full);
    while (again.status === 503) again = await openStream(full);
    again.stop();
  });

  it('makes what environments print visible and cuts it', async () => {
    server.note({
      type: 'env-failed',
      message: `</script><img src=x onerror=alert(1)>\u001b[2J\u202e${'x'.repeat(10_000)}`,
      runSeconds: 6,
    });
    const stream = await openStream(server);
    const { notices } = await nextFrame(stream);
    const message = notices.at(-1)?.message ?? '';
    assert.ok(message.length <= 400 && message.startsWith('</script><img src=x onerror=alert(1)>�[2J�x'), message);
    stream.stop();
  });
});

describe('a viewer that does not read', { timeout: 60_000 }, () => {
  it('is skipped while its last frame waits, then cut off; the others are served', () => {
    const written = { slow: 0, good: 0 };
    let destroyed = false;
    const response = (name: 'slow' | 'good', needsDrain: () => boolean): ServerResponse =>
      ({
        on: () => undefined,
        writeHead: () => undefined,
        write: () => written[name]++,
        destroy: () => (destroyed = true),
        get writableNeedDrain() {
          return needsDrain();
        },
        socket: { writableLength: 0 },
      }) as unknown as ServerResponse;
    const viewers = createViewers();
    viewers.add(
      response('slow', () => written.slow > 0),
      '',
      () => '{}',
      '1',
    );
    viewers.add(
      response('good', () => false),
      '',
      () => '{}',
      '1',
    );
    const before = { ...written };
    for (let i = 0; i < 20; i++) viewers.send(() => '{}', '2');
    assert.deepEqual(written, { slow: before.slow, good: before.good + 20 });
    assert.equal(destroyed, true);
    assert.equal(viewers.count, 1);
  });

  it('gives its seat back over a real socket', async (t) => {
    const server = await openServer({ lookEveryMs: 1 });
    t.after(() => server.close());
    const feed = fakeFeed(60_000);
    // No two neighbours alike: frames of some 300 kB, so that socket buffers fill soon.
    for (let env = 0; env < feed.states.length; env++) feed.states[env] = env % 5;
    server.begin(feed.source);
    const stuck = Array.from({ length: MAX_VIEWERS }, () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(`GET ${withToken(server, '/events')} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
      return socket;
    });
    t.after(() => {
      for (const socket of stuck) socket.destroy();
    });
    while ((await ask(server, withToken(server, '/events'), { method: 'HEAD' })).status !== 200);
    let stream = await openStream(server);
    while (stream.status === 503) stream = await openStream(server);
    await nextFrame(stream);
    stream.stop();
  });
});

describe('opening and closing', { timeout: 60_000 }, () => {
  it('says which port is in use', async (t) => {
    const other = createServer();
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', () => ready()));
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    await assert.rejects(openServer({ port }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'bad-usage');
      assert.match(error.message, new RegExp(`--serve ${port}: port ${port} of 127\\.0\\.0\\.1 is in use; choose another`));
      return true;
    });
  });

  it('says goodbye to every viewer with the last state, frees the port, and may be closed twice', async () => {
    const server = await openServer({ lookEveryMs: 3_600_000 });
    const feed = fakeFeed();
    server.begin(feed.source);
    const stream = await openStream(server);
    await nextFrame(stream);
    feed.status = { ...feed.status, phase: 'done' };
    await Promise.all([server.close(), server.close()]);
    assert.equal((await nextFrame(stream)).status.phase, 'done');
    assert.equal((await stream.next()).event, 'end');
    await stream.ended;
    await assert.rejects(ask(server, withToken(server, '/')), /ECONNREFUSED/);
    const again = await openServer({ port: server.port });
    await again.close();
  });

  it('never keeps its process alive, not even with a viewer and without close', () => {
    const script = `
      const { startLiveServer } = await import(${JSON.stringify(join(import.meta.dirname, '../../harness/live/live-server.ts'))});
      const { connect } = await import('node:net');
      const server = await startLiveServer({ port: 0, page: true, metrics: true, token: undefined, onTrouble: () => undefined });
      const socket = connect(server.port, '127.0.0.1');
      socket.write('GET /events?token=' + server.token + ' HTTP/1.1\\r\\nHost: 127.0.0.1:' + server.port + '\\r\\n\\r\\n');
      await new Promise((heard) => socket.once('data', heard));
      socket.unref();
      console.log('left');`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 30_000,
      cwd: join(import.meta.dirname, '../..'),
    });
    assert.deepEqual([status, stdout], [0, 'left\n'], stderr);
  });

  it('tells of trouble once and serves the rest when the run cannot be looked at', async (t) => {
    const troubles: string[] = [];
    const server = await startLiveServer({
      port: 0,
      page: true,
      metrics: false,
      token: undefined,
      lookEveryMs: 1,
      onTrouble: (message) => troubles.push(message),
    });
    t.after(() => server.close());
    const feed = fakeFeed();
    let looks = 0;
    server.begin({
      ...feed.source,
      status: () => {
        looks++;
        throw new Error('no status today');
      },
    });
    while (looks < 3) await new Promise((later) => setImmediate(later));
    assert.equal(troubles.length, 1);
    assert.match(troubles[0] ?? '', /no status today; the run goes on/);
    assert.equal((await ask(server, withToken(server, '/'))).status, 200);
  });
});

describe('/metrics', { timeout: 30_000 }, () => {
  it('is Prometheus text of this run alone, with labels escaped', async (t) => {
    const server = await openServer();
    t.after(() => server.close());
    const entry = 'a"b\\c\nd';
    const feed = fakeFeed(12, [entry]);
    server.begin(feed.source);
    server.note({ type: 'worker-died', message: 'x', runSeconds: 1 });
    const { status, headers, body } = await ask(server, '/metrics', { headers: { Authorization: `Bearer ${server.token}` } });
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
    const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) assert.match(line, /^envladder_[a-z_]+(\{[a-z]+="(?:[^"\\]|\\.)*"\})? -?[\d.e+]+$/);
    for (const expected of [
      'envladder_live_up 1',
      'envladder_live_envs 12',
      'envladder_live_sampling_steps_per_second 52100',
      'envladder_live_events{type="worker-died"} 1',
      'envladder_live_episode_return_mean{entry="a\\"b\\\\c\\nd"} 21.5',
    ])
      assert.ok(lines.includes(expected), `${expected} in\n${body}`);
  });

  it('is not there unless asked for, and alone when only it is asked for', async (t) => {
    const page = await openServer({ metrics: false });
    const metrics = await openServer({ page: false });
    t.after(() => Promise.all([page.close(), metrics.close()]));
    assert.equal((await ask(page, withToken(page, '/metrics'))).status, 404);
    assert.deepEqual([page.metricsUrl, metrics.pageUrl], [null, null]);
    for (const path of ['/', '/events', '/live.js']) assert.equal((await ask(metrics, withToken(metrics, path))).status, 404);
    const { status, body } = await ask(metrics, withToken(metrics, '/metrics'));
    assert.deepEqual([status, /^envladder_live_up 0$/m.test(body)], [200, true]);
  });
});
