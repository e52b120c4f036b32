import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { renderReport } from '../../reports/render-report.js';
import { copyOfFixture, folderOf, hostileRun, invalidRun, oneTier, sevenTiers, unmeasured } from '../fixtures/ladder-run.js';
import { reportRunDir } from '../fixtures/report-runs.js';

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

/** Runs in the page. `collisions`: pairs of texts of one figure that overlap by more than a hair. */
const LOOK = `(() => {
  const figures = [...document.querySelectorAll('figure > svg')];
  const hidden = figures.filter((svg) => { const box = svg.getBoundingClientRect(); return !(box.width > 100 && box.height > 80); }).length;
  const blank = figures.filter((svg) => ![...svg.querySelectorAll('path, rect, circle')].some((mark) => { const box = mark.getBoundingClientRect(); return box.width > 1 || box.height > 1; })).length;
  const collisions = [];
  const outside = [];
  for (const svg of figures) {
    const frame = svg.closest('figure').getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() })).filter(({ box }) => box.width > 0);
    for (const { text, box } of texts) if (box.left < frame.left - 1 || box.right > frame.right + 1) outside.push(text);
    texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
      const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (width > 1 && height > 3) collisions.push(svg.getAttribute('aria-label').slice(0, 40) + ': ' + a.text + ' / ' + b.text);
    }));
  }
  return { figures: figures.length, hidden, blank, collisions, outside, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth, scripts: document.scripts.length };
})()`;

function copyOf(dir: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'envladder-sick-'));
  cpSync(dir, copy, { recursive: true });
  return copy;
}

test('reports open in a real Chromium: no errors, no requests, figures visible, labels apart, no sideways scroll', {
  timeout: 180_000,
}, async (t) => {
  // Goal: what a person sees, for every shape of run, on a screen and on a telephone, light and dark, without script.
  if (CHROMIUM === undefined) return t.skip('SKIPPED(no chromium at /usr/bin/chromium)');
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  t.after(() => browser.close());
  const seven = sevenTiers();
  const hostile = hostileRun();
  const runs = {
    fixture: copyOfFixture(),
    one: folderOf(oneTier()),
    seven: folderOf(seven.record, seven.metrics),
    invalid: folderOf(invalidRun()),
    unmeasured: folderOf(unmeasured(), null),
    hostile: folderOf(hostile.record, hostile.metrics),
    sick: copyOf(reportRunDir('sick')),
  };
  const figures = { fixture: 10, one: 10, seven: 13, invalid: 10, unmeasured: 0, hostile: 10, sick: 13 };
  for (const [name, dir] of Object.entries(runs)) {
    const url = pathToFileURL(renderReport(dir).html).href;
    for (const width of [1280, 400]) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: width === 400 ? 'dark' : 'light' });
      const page = await context.newPage();
      const troubles: string[] = [];
      const requests: string[] = [];
      page.on('console', (message) => troubles.push(`console ${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => troubles.push(String(error)));
      page.on('dialog', (dialog) => troubles.push(`dialog ${dialog.message()}`));
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(url);
      const seen = (await page.evaluate(LOOK)) as {
        figures: number;
        hidden: number;
        blank: number;
        collisions: string[];
        outside: string[];
        overflow: number;
        scripts: number;
      };
      const where = `${name} at ${width} px`;
      assert.deepEqual(troubles, [], where);
      assert.deepEqual(
        requests.filter((request) => !request.startsWith('data:')),
        [url],
        where,
      );
      assert.deepEqual(
        seen,
        { figures: figures[name as keyof typeof figures], hidden: 0, blank: 0, collisions: [], outside: [], overflow: 0, scripts: 0 },
        where,
      );
      await context.close();
    }
  }
});
