// The live page in a real Chromium: 7,000 cells, updates as they happen, nothing that environments print comes alive.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { LiveServer } from '../../harness/live/live-server.js';
import { type FakeFeed, fakeFeed, openServer } from './fake-feed.js';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const ENVS = 7000;
const EVIL = '</script><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'"><svg onload=alert(1)>';

interface Seen {
  readonly page: Page;
  /** Console lines, uncaught errors, dialogs. */
  readonly troubles: string[];
  readonly requests: string[];
}

/** Runs in the page: colour of the middle of cell `env`, as "r,g,b,a". */
const pixelOf = (env: number): string => `(() => {
  const canvas = document.getElementById('map');
  const { columns, cell } = canvas.dataset;
  const ratio = devicePixelRatio;
  const x = ((${env} % columns) * cell + 2) * ratio, y = (Math.floor(${env} / columns) * cell + Number(cell) - 3) * ratio;
  const copy = document.createElement('canvas').getContext('2d');
  copy.drawImage(canvas, x, y, 1, 1, 0, 0, 1, 1);
  return [...copy.getImageData(0, 0, 1, 1).data].join();
})()`;

/** Waits until `expression` is true in the page. From outside: the page's policy forbids what the driver's own waiting would evaluate. */
async function until(page: Page, expression: string): Promise<void> {
  while ((await page.evaluate(expression)) !== true);
}

describe('the live page in Chromium', {
  timeout: 180_000,
  skip: CHROMIUM === undefined && 'SKIPPED(no chromium at /usr/bin/chromium)',
}, () => {
  let browser: Browser;
  let server: LiveServer;
  let feed: FakeFeed;

  before(async () => {
    const { chromium } = await import('playwright-core');
    browser = await chromium.launch({ executablePath: CHROMIUM as string, args: FLAGS });
    server = await openServer({ lookEveryMs: 50 });
    feed = fakeFeed(ENVS, ['cartpole', EVIL], EVIL);
    server.begin(feed.source);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  async function open(width: number, colorScheme: 'light' | 'dark', url = server.pageUrl ?? ''): Promise<Seen> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    const troubles: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => troubles.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => troubles.push(String(error)));
    page.on('dialog', (dialog) => {
      troubles.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(url);
    await until(page, `Number(document.documentElement.dataset.frames) > 1`);
    return { page, troubles, requests };
  }

  it('maps 7,000 envs and follows them: a cell changes colour when its env does, and says so in words', async () => {
    const { page, troubles } = await open(1280, 'light');
    assert.equal(await page.getAttribute('#map', 'data-cells'), String(ENVS));
    assert.match((await page.getAttribute('#map', 'aria-label')) ?? '', /^Map of 7,000 envs: 7,000 live$/);
    const env = 6543;
    const live = (await page.evaluate(pixelOf(env))) as string;
    assert.equal(await page.evaluate(pixelOf(0)), live);
    feed.states[env] = 4;
    feed.status = { ...feed.status, live: ENVS - 1, quarantined: 1 };
    await until(page, `document.getElementById('map-trouble').textContent !== ''`);
    assert.match((await page.textContent('#map-trouble')) ?? '', /^env 6543, .*worker 1: quarantined$/);
    assert.match((await page.getAttribute('#map', 'aria-label')) ?? '', /6,999 live, 1 quarantined/);
    assert.notEqual(await page.evaluate(pixelOf(env)), live);
    assert.equal(await page.evaluate(pixelOf(env - 1)), live);
    feed.states[env] = 1;
    feed.status = { ...feed.status, live: ENVS, quarantined: 0 };
    await until(page, `document.getElementById('map-trouble').textContent === ''`);
    assert.equal(await page.evaluate(pixelOf(env)), live);
    assert.deepEqual(troubles, []);
    await page.context().close();
  });

  it('names a cell under the pointer and under the arrow keys', async () => {
    const { page } = await open(1280, 'dark');
    const columns = Number(await page.getAttribute('#map', 'data-columns'));
    const cell = Number(await page.getAttribute('#map', 'data-cell'));
    await page.hover('#map', { position: { x: 5 * cell + 2, y: 2 * cell + 2 } });
    assert.equal(await page.textContent('#map-said'), `env ${2 * columns + 5}, cartpole, worker 0: live`);
    await page.focus('#map');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.textContent('#map-said'), `env ${3 * columns + 6}, cartpole, worker 0: live`);
    await page.context().close();
  });

  it('draws curves, tiles and events as they come, without a request beside its own files', async () => {
    const { page, troubles, requests } = await open(1280, 'light');
    feed.status = { ...feed.status, samplingSps: 12_345, runSeconds: 77, kinds: { cartpole: { episodes: 1234, recentReturn: 99.5 } } };
    server.note({ type: 'worker-died', message: 'worker 3 died', runSeconds: 77 });
    await until(page, `document.getElementById('tiles').textContent.includes('12,345')`);
    await until(page, `document.getElementById('events').textContent.includes('worker 3 died')`);
    await until(page, `/cartpole: mean return is now 99.5/.test(document.querySelector('#learning svg').getAttribute('aria-label'))`);
    assert.match((await page.getAttribute('#throughput svg', 'aria-label')) ?? '', /sampled is now 12.3k; trained is now 41k/);
    const curve = (await page.getAttribute('#throughput .curve', 'd')) ?? '';
    assert.match(curve, /^M[\d.]+ [\d.]+L/);
    assert.deepEqual(troubles, []);
    const base = `http://127.0.0.1:${server.port}/`;
    assert.deepEqual(
      [...new Set(requests.filter((url) => !url.startsWith('data:')))].sort(),
      ['', 'chart.js', 'env-map.js', 'events', 'figures.css', 'format.js', 'live.css', 'live.js'].map(
        (name) => `${base}${name}?token=${server.token}`,
      ),
    );
    await page.context().close();
  });

  it('says of a tier that is over whether it was valid and what became of its objectives', async () => {
    // Goal: a missed objective is seen while the climb goes on.
    const before = feed.tiers;
    const { page, troubles } = await open(1280, 'light');
    const objectives = { all: 3, met: 2, missed: ['step_latency_us.p99 < 30000, found 41000'] };
    feed.tiers = [{ tier: 0, verdict: 'valid', samplingSps: 52_100, trainingSps: 41_000, latencyP99Us: 41_000, reasons: [], objectives }];
    await until(page, `document.getElementById('tiers').textContent.includes('valid, 52.1k steps/s, 2 of 3 objectives met')`);
    assert.equal(await page.getAttribute('#tiers li', 'title'), 'missed: step_latency_us.p99 < 30000, found 41000');
    assert.equal(await page.getAttribute('#tiers li', 'data-objectives'), 'missed');
    assert.deepEqual(troubles, []);
    feed.tiers = before;
    await page.context().close();
  });

  it('shows hostile names and messages as text', async () => {
    server.note({ type: 'env-failed', message: `env 1 says ${EVIL}`, runSeconds: 78 });
    const { page, troubles } = await open(1280, 'light');
    await until(page, `document.getElementById('events').textContent.includes('env 1 says')`);
    assert.ok(((await page.textContent('#events')) ?? '').includes(`env 1 says ${EVIL}`));
    assert.ok(((await page.textContent('#learning')) ?? '').includes('onerror'));
    assert.equal(await page.locator('main img, main script, main svg[onload]').count(), 0);
    assert.doesNotMatch(await page.title(), /owned/);
    assert.deepEqual(troubles, []);
    await page.context().close();
  });

  it('refuses script that stands in the page, whoever put it there', async () => {
    const { page, troubles } = await open(1280, 'light');
    const injected = page.evaluate(`(() => {
      const script = document.createElement('script');
      script.append('document.title = "owned"');
      document.body.append(script);
      document.body.innerHTML = '<img src=x onerror=alert(1)>';
    })()`);
    await assert.rejects(injected, /TrustedHTML|TrustedScript/);
    assert.doesNotMatch(await page.title(), /owned/);
    assert.ok(troubles.length > 0, 'the browser reports the refusal');
    await page.context().close();
  });

  for (const [width, scheme] of [
    [1280, 'light'],
    [760, 'light'],
    [400, 'dark'],
  ] as const)
    it(`fits a window of ${width} px, ${scheme}, and says in words what it draws`, async () => {
      const { page, troubles } = await open(width, scheme);
      const look = (await page.evaluate(`(() => ({
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        unnamed: [...document.querySelectorAll('svg[role=img], canvas, progress')].filter((each) => (each.getAttribute('aria-label') ?? '').length < 5).length,
        cells: Number(document.getElementById('map').dataset.cells),
        background: getComputedStyle(document.body).backgroundColor,
      }))()`)) as Record<string, unknown>;
      assert.deepEqual(look, {
        overflow: 0,
        unnamed: 0,
        cells: ENVS,
        background: scheme === 'dark' ? 'rgb(18, 22, 27)' : 'rgb(246, 245, 241)',
      });
      assert.deepEqual(troubles, []);
      await page.context().close();
    });

  it('says that the run is over; says that there is no connection, and finds its way back', async () => {
    const short = await openServer({ lookEveryMs: 50 });
    short.begin(fakeFeed().source);
    const { page } = await open(1280, 'light', short.pageUrl ?? '');
    await short.close();
    await until(page, `document.getElementById('link').dataset.state === 'over'`);
    await page.context().close();

    // Too many viewers, then a seat comes free: the page asks again by itself.
    const context = await browser.newContext();
    const waiting = await context.newPage();
    await waiting.route('**/events*', (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
    await waiting.goto(server.pageUrl ?? '');
    await until(waiting, `document.getElementById('link').dataset.state === 'lost'`);
    await until(waiting, `document.getElementById('link').dataset.state === 'live'`);
    await context.close();
  });
});
