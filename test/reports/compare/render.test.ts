// Goal: the formats of a comparison say the same, byte for byte the same each time, and nothing from outside becomes markup.
// UPDATE_GOLDEN=1 writes the golden files anew.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Comparison, compareSides } from '../../../reports/compare/compare-sides.js';
import { comparisonJson } from '../../../reports/compare/comparison-json.js';
import { renderComparisonMarkdown } from '../../../reports/compare/render-markdown.js';
import { renderComparisonTerminal } from '../../../reports/compare/render-terminal.js';
import { oneLine } from '../../../reports/quantity.js';
import { code } from '../../../reports/render/markdown-text.js';
import { HOSTILE, hostileRun } from '../../fixtures/ladder-run.js';
import { makeRuns } from './made-runs.js';

const GOLDEN = fileURLToPath(new URL('../../golden/compare', import.meta.url));

const ESCAPE = '\u001b';

function regressed(): Comparison {
  return compareSides(
    { name: 'main (base000)', records: makeRuns({ name: 'base', runs: 8, seed: 1 }) },
    { name: 'current tree', records: makeRuns({ name: 'cand', runs: 8, seed: 2, slower: 1.1 }) },
    { seed: 1, reproduce: ['envladder compare --base main --plan default'] },
  );
}

function single(): Comparison {
  return compareSides(
    { name: 'runs/a', records: makeRuns({ name: 'base', runs: 1, seed: 1 }) },
    { name: 'runs/b', records: makeRuns({ name: 'cand', runs: 1, seed: 2 }) },
    { seed: 1 },
  );
}

const FILES: readonly (readonly [string, () => string])[] = [
  ['regressed.txt', () => `${renderComparisonTerminal(regressed())}\n`],
  ['regressed.md', () => renderComparisonMarkdown(regressed())],
  ['regressed.json', () => `${JSON.stringify(comparisonJson(regressed()), null, 1)}\n`],
  ['single.txt', () => `${renderComparisonTerminal(single())}\n`],
  ['single.md', () => renderComparisonMarkdown(single())],
];

for (const [name, render] of FILES) {
  test(`${name}: same records, same bytes`, () => {
    const path = `${GOLDEN}/${name}`;
    const text = render();
    if (process.env['UPDATE_GOLDEN'] === '1') {
      mkdirSync(GOLDEN, { recursive: true });
      writeFileSync(path, text);
    }
    assert.equal(text, readFileSync(path, 'utf8'));
  });
}

test('the comment begins with the verdict, shows changed rows only, and folds the rest', () => {
  const [head = '', folded = ''] = renderComparisonMarkdown(regressed()).split(/<details>/, 2);
  assert.match(head, /^### envladder: REGRESSED\n\n\*\*Regressed\*\*: /);
  assert.match(head, /sampling\\_sps @ 1,000 envs .*\*\*regressed\*\*/);
  assert.doesNotMatch(head, /unchanged/);
  assert.match(folded, /shm\\_bytes @ 1,000 envs .*unchanged/);
  assert.match(renderComparisonMarkdown(regressed()), /```sh\nenvladder compare --base main --plan default\n```/);
});

test('every metric of the comparison is in the terminal table and in the JSON', () => {
  const comparison = regressed();
  const text = renderComparisonTerminal(comparison);
  const json = comparisonJson(comparison) as { metrics: { metric: string }[]; exit_code: number };
  assert.equal(json.metrics.length, comparison.metrics.length);
  assert.equal(json.exit_code, 6);
  for (const metric of comparison.metrics) assert.ok(text.includes(metric.key.name), metric.key.name);
  assert.ok(!text.includes(ESCAPE));
  assert.ok(renderComparisonTerminal(comparison, true).includes(`${ESCAPE}[31mregressed`));
});

test('a single run a side says that timing was not judged and how many runs it takes', () => {
  assert.match(renderComparisonTerminal(single()), /16 metrics not judged: .* at\s+least 6 valid runs a side/s);
});

test('names, commits and reasons from outside stay text in every format', () => {
  const { record } = hostileRun();
  const other = { ...record, run: { ...record.run, id: `${HOSTILE}2` } };
  const comparison = compareSides(
    { name: HOSTILE, records: [record] },
    { name: HOSTILE, records: [other] },
    { seed: 1, reproduce: [HOSTILE] },
  );
  const markdown = renderComparisonMarkdown(comparison);
  assert.equal(comparison.verdict, 'invalid');
  // What stands in a code span is text to every Markdown reader, as long as the span cannot be left: code() sees to that.
  const spans = [HOSTILE, `${HOSTILE}2`].flatMap((text) => [text, oneLine(text, 120), oneLine(text, 80), text.slice(0, 12)]).map(code);
  const outside = spans.reduce((rest, span) => rest.replaceAll(span, ''), markdown.replace(/```sh\n[^\n]*\n```/g, ''));
  assert.notEqual(outside, markdown);
  assert.doesNotMatch(outside, /<script|<\/style/);
  for (const text of [markdown, renderComparisonTerminal(comparison)]) assert.ok(!text.includes(ESCAPE));
});
