// `envladder ladder --serve` as a user runs it: the page of a real run in a real browser, strangers on the port meanwhile, and a run that
// ends as if nobody had watched.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { ENV_STATE_CODE } from '../../harness/contract/env-state.js';
import { runRecordSchema } from '../../harness/contract/run-record.js';
import { markedPids, runCli, startCli } from '../cli/run-cli.js';
import { raiseTestCrew, stopAllCrews, until } from '../fixtures/test-crew.js';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const TOKEN = 'a-token-of-our-own-0123456789';

let root = '';
before(() => {
  root = mkdtempSync(join(tmpdir(), 'envladder-live-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

describe('the live page of a real ladder', { timeout: 240_000 }, () => {
  it('shows the run in a browser, shrugs off garbage, and ends with it: valid, exit 0, one JSON document, no process left', async (t) => {
    if (CHROMIUM === undefined) return t.skip('SKIPPED(no chromium at /usr/bin/chromium)');
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    t.after(() => browser.close());
    const page = await browser.newPage();
    const troubles: string[] = [];
    page.on('console', (message) => troubles.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => troubles.push(String(error)));

    const args = ['ladder', '--plan', 'smoke', '--out', join(root, 'served'), '--serve', '--prometheus', '--json'];
    const running = startCli(args, { cwd: root, env: { ENVLADDER_LIVE_TOKEN: TOKEN } });
    await running.until('the address is printed', () => /metrics /.test(running.stderrSoFar()));
    const url = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(running.stderrSoFar())?.[0] ?? '';
    assert.ok(url.endsWith(`?token=${TOKEN}`), running.stderrSoFar());
    const port = Number(new URL(url).port);
    await page.goto(url);
    const seen = (expression: string): Promise<unknown> => page.evaluate(expression);

    while ((await seen(`document.getElementById('map').dataset.cells`)) !== '64');
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    assert.match(await metrics.text(), /^envladder_live_up 1$/m);
    while (!/32 live/.test(String(await seen(`document.getElementById('map').getAttribute('aria-label')`))));
    const garbage = [
      '\x16\x03\x01',
      'GET',
      'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      `POST /?token=${TOKEN} HTTP/1.1\r\n\r\n`,
      '\0'.repeat(9000),
    ];
    const strangers = Array.from({ length: 100 }, (_, index) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(garbage[index % garbage.length] as string);
      return socket;
    });
    while (!/64 live/.test(String(await seen(`document.getElementById('map').getAttribute('aria-label')`))));
    assert.match(String(await seen(`document.getElementById('tiers').textContent`)), /valid, [\d.]+k? steps\/s/);
    while ((await seen(`document.getElementById('link').dataset.state`)) !== 'over');
    assert.match(String(await seen(`document.querySelector('#learning svg').getAttribute('aria-label')`)), /mean return is now \d/);
    assert.equal(await seen(`document.getElementById('phase').textContent`), 'Done');

    const { code, stdout, stderr } = await running.ended;
    for (const stranger of strangers) stranger.destroy();
    const record = runRecordSchema.parse(JSON.parse(stdout));
    assert.deepEqual([code, record.validity], [0, { verdict: 'valid', reasons: [] }], stderr);
    assert.doesNotMatch(record.run.command, new RegExp(TOKEN));
    assert.deepEqual(troubles, []);
    assert.deepEqual(markedPids(running.mark), []);
  });

  it('refuses a port in use, a port that is none and a weak token before anything starts', async (t) => {
    const other = createServer();
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', () => ready()));
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const cases: [string, NodeJS.ProcessEnv, RegExp][] = [
      [String(port), {}, /--serve \d+: port \d+ of 127\.0\.0\.1 is in use; choose another, or leave the number out/],
      ['99999', {}, /--serve 99999: a port is a whole number from 0 to 65535/],
      ['here', {}, /--serve here: a port is a whole number/],
      ['0', { ENVLADDER_LIVE_TOKEN: 'weak' }, /ENVLADDER_LIVE_TOKEN: a token of 4 characters; it must have 16 to 200/],
    ];
    for (const [value, env, message] of cases) {
      const out = join(root, `refused-${value}`);
      const { code, stderr } = await runCli(['ladder', '--plan', 'smoke', '--out', out, '--serve', value], { cwd: root, env });
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.match(stderr, /\(bad-usage, exit code 2\)/);
      assert.equal(existsSync(out), false, 'no run folder');
    }
  });
});

describe('env states of a real crew', { timeout: 60_000 }, () => {
  afterEach(stopAllCrews);

  it('show the envs of a killed worker as restarted once they step again, and only those', async () => {
    const test = await raiseTestCrew({ tiers: [64], mix: { cartpole: 1 }, workers: 2 });
    const { live, restarted } = ENV_STATE_CODE;
    await until(() => test.crew.envStates().every((state) => state === live));
    process.kill(test.workerPid(1), 'SIGKILL');
    await until(() => test.crew.envStates().filter((state) => state === restarted).length >= 31);
    const states = [...test.crew.envStates()];
    assert.ok(states.slice(0, 32).every((state) => state === live));
    await test.crew.stop(5000);
    assert.equal(test.crew.envStates().length, 64, 'still answers after the stop');
  });
});
