import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('every relative link and picture of every page exists', () => {
  // Goal: nobody follows the README into nothing.
  const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const missing: string[] = [];
  let links = 0;
  for (const page of pages) {
    for (const [, target = ''] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:|^#/.test(target)) continue;
      links++;
      const path = target.split('#')[0] ?? '';
      if (!existsSync(join(root, dirname(page), path))) missing.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(links > 20, `${links} links found`);
});
