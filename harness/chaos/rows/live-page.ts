// Row 53: everything a stranger can send to the live page, while a run goes on behind it.
import { connect } from 'node:net';
import { monotonicMs } from '../../supervisor/clock.js';
import type { ChaosRow } from '../chaos-row.js';
import { identify, startLadder, stillRunning } from '../child-ladder.js';
import { judgeLadder, ladderRow } from '../ladder-row.js';
import { lookAround } from '../leftovers.js';
import { seededRandom } from '../seeded-random.js';
import { until } from '../until.js';
import { rssBytes } from './learner-faults.js';

const REQUESTS = 600;
const AT_ONCE = 30;
const MOST_GROWTH_BYTES = 64 * 2 ** 20;
/** A hostile peer is hung up on, or hangs up itself after this long. */
const PEER_MS = 2000;

/** One hostile request, chosen by the seed: bytes as they go over the wire. */
function hostileRequest(random: () => number, host: string): Buffer {
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
  const kinds: (() => Buffer)[] = [
    () => noise(1 + Math.floor(random() * 4000)),
    () => Buffer.from(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    () => Buffer.from(`GET /../../../../etc/passwd HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    () => Buffer.from(`GET /%2e%2e%2f%2e%2e%2fetc%2fpasswd?token=${'x'.repeat(43)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    () => Buffer.from('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
    () => Buffer.from(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000000\r\n\r\n{`),
    () => Buffer.from(`GET / HTTP/1.1\r\nHost: ${host}\r\n${'X-A: b\r\n'.repeat(5000)}\r\n`),
    () => Buffer.from(`GET /events HTTP/1.1\r\nHost: ${host}\r\nLast-Event-ID: -1\r\n\r\n`),
    () => Buffer.from(`DELETE / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`),
    () => Buffer.from('GET / HTTP/9.9\r\n'),
  ];
  return (kinds[Math.floor(random() * kinds.length)] as () => Buffer)();
}

/** Sends it and takes what comes, for at most PEER_MS. Resolves with the first line of the answer. */
function send(port: number, request: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text.split('\r\n', 1)[0] ?? '');
    };
    const timer = setTimeout(end, PEER_MS);
    socket.on('data', (chunk: Buffer) => {
      if (text.length < 65_536) text += chunk.toString('latin1');
    });
    socket.once('error', end);
    socket.once('close', end);
    socket.once('connect', () => socket.write(request));
  });
}

export const hostilePage: ChaosRow = ladderRow({
  row: 53,
  fault: 'hostile requests to the live page',
  outcome: 'refused; the run is unaffected and the page still serves its owner',
  recoverLimitMs: 0,
  async act(context) {
    const before = lookAround();
    const ladder = startLadder(context, { args: ['--serve'] });
    if (!(await ladder.live())) throw new Error(`the ladder did not come up: ${ladder.stderr().slice(-500)}`);
    const url = /http:\/\/127\.0\.0\.1:(\d+)\/\S*/.exec(`${ladder.stderr()}\n${ladder.stdout()}`);
    if (url === null) throw new Error(`no address of the page in: ${ladder.stderr().slice(-300)}`);
    const port = Number(url[1]);
    const children = identify(ladder.children());
    const rss = rssBytes(ladder.pid);
    const random = seededRandom(context.seed, 3);
    const problems: string[] = [];
    const atMs = monotonicMs();
    let good = 0;
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send(port, hostileRequest(random, `127.0.0.1:${port}`))));
      good += answers.filter((line) => / 200 /.test(line)).length;
    }
    const tookMs = monotonicMs() - atMs;
    if (good > 0) problems.push(`${good} requests without the token were served`);
    const page = await fetch(url[0]).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
    if (page !== 200) problems.push(`the owner gets ${page}`);
    const lines = ladder.metricsLines();
    if (!(await until(() => ladder.metricsLines() >= lines + 2, 15_000 * context.patience))) problems.push('no metrics come any more');
    if (ladder.ended !== null || stillRunning(children).length !== children.size) problems.push('the run lost a process');
    const grown = rssBytes(ladder.pid) - rss;
    if (grown > MOST_GROWTH_BYTES) problems.push(`the supervisor grew by ${grown} bytes`);
    const acknowledged = ladder.events();
    ladder.kill('SIGTERM');
    await ladder.exit;
    return {
      detectMs: null,
      recoverMs: null,
      problems,
      findings: await judgeLadder(before, ladder, acknowledged, 3000 * context.patience),
      notes: [`${REQUESTS} requests in ${Math.round(tookMs)} ms, the supervisor grew by ${Math.round(grown / 1e6)} MB`],
    };
  },
});
