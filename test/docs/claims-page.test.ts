import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ALL_CLAIMS } from '../../harness/claims/all-claims.js';

test("the page of claims has every claim with the account's words, its sides and its rule", () => {
  // Goal: what a reader is told before a run is what the code has registered.
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'claims.md'), 'utf8');
  for (const claim of ALL_CLAIMS) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${claim.id}\` |`));
    assert.ok(row, `${claim.id} has no row in docs/claims.md`);
    const { sides, rule } = claim.register();
    for (const words of [claim.said.text, rule.replace(/^held when /, ''), ...sides.map(({ what }) => what)])
      assert.ok(row.includes(words.replaceAll('|', '\\|')), `${claim.id}: the page does not say "${words}"`);
  }
});
