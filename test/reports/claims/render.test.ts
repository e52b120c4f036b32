// Goal: the pages of claims are pure renderings: golden byte for byte, inert whatever the texts, whole whatever the states; a damaged or foreign
// record is refused with what it needs.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseHTML } from 'linkedom';
import { ALL_CLAIMS } from '../../../harness/claims/all-claims.js';
import { type ClaimsRecord, claimsRecordSchema } from '../../../harness/contract/claims-record.js';
import { formatFigure } from '../../../reports/claims/claims-words.js';
import { judgeClaims } from '../../../reports/claims/judge-claims.js';
import { readClaims } from '../../../reports/claims/read-claims.js';
import { renderClaimsHtml } from '../../../reports/claims/render-html.js';
import { renderClaimsMarkdown } from '../../../reports/claims/render-markdown.js';
import { renderClaimsTerminal } from '../../../reports/claims/render-terminal.js';
import { MADE_RECORD } from '../../fixtures/claims-record.js';

const GOLDEN = join(import.meta.dirname, '..', '..', 'golden', 'claims');

function pages(record: ClaimsRecord): Record<string, string> {
  const judged = judgeClaims(record);
  return {
    'claims.html': renderClaimsHtml(judged),
    'claims.md': renderClaimsMarkdown(judged),
    'claims.txt': `${renderClaimsTerminal(judged, true)}\n`,
  };
}

test('every page of the made record is its golden file, byte for byte', () => {
  const found = pages(MADE_RECORD);
  if (process.env.ENVLADDER_UPDATE_GOLDEN === '1') {
    mkdirSync(GOLDEN, { recursive: true });
    for (const [name, text] of Object.entries(found)) writeFileSync(join(GOLDEN, name), text);
  }
  for (const [name, text] of Object.entries(found))
    assert.equal(text, readFileSync(join(GOLDEN, name), 'utf8'), `${name}: if meant, run with ENVLADDER_UPDATE_GOLDEN=1 and look at it`);
});

test('a record that went through its file renders to the same bytes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-claims-'));
  try {
    writeFileSync(join(dir, 'claims.json'), JSON.stringify(MADE_RECORD, null, 2));
    assert.deepEqual(pages(readClaims(dir)), pages(MADE_RECORD));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('no text becomes markup, and no script, link or address is fetched', () => {
  const { 'claims.html': html = '', 'claims.txt': text = '', 'claims.md': markdown = '' } = pages(MADE_RECORD);
  const { document } = parseHTML(html);
  assert.equal(document.querySelectorAll('script,iframe,img,object').length, 0);
  for (const link of document.querySelectorAll('a')) assert.match(link.getAttribute('href') ?? '', /^#/);
  assert.doesNotMatch(html, /https?:\/\/(?!www\.w3\.org)/);
  assert.equal(document.querySelectorAll('article').length, MADE_RECORD.claims.length);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes of the terminal other than our colours
  assert.doesNotMatch(text.replace(/\u001b\[3\dm(held|did not hold|not testable here|failed)\u001b\[0m/g, ''), /\u001b/);
  assert.doesNotMatch(markdown, /<script/);
});

test('a record of no claim and of every registered claim, unmeasured, render', () => {
  pages({ ...MADE_RECORD, claims: [] });
  const claims = ALL_CLAIMS.map((claim) => ({
    id: claim.id,
    said: claim.said,
    question: claim.question,
    registered: claim.register(),
    state: 'not-testable' as const,
    reason: 'nothing was run',
    samples: {},
    conditions: {},
    foreign_cores: [],
    notes: [],
    repeats: 0,
    seconds: 0,
  }));
  const record = claimsRecordSchema.parse({ ...MADE_RECORD, claims });
  assert.equal(new Set(claims.map(({ id }) => id)).size, claims.length, 'two claims share an id');
  for (const page of Object.values(pages(record))) for (const { id } of claims) assert.ok(page.includes(id));
});

test('figures have three digits and no false precision', () => {
  assert.deepEqual([0, 0.0312, 4.718, 18.34, 1234.5, 8.44, 3.1e-7, 1e6, -2.5].map(formatFigure), [
    '0',
    '0.0312',
    '4.72',
    '18.3',
    '1,235',
    '8.44',
    '3.1e-7',
    '1,000,000',
    '-2.5',
  ]);
});

test('a damaged, foreign or newer record is refused with what it needs', () => {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-claims-'));
  const refused = (text: string | null, says: RegExp): void => {
    if (text !== null) writeFileSync(join(dir, 'claims.json'), text);
    assert.throws(() => readClaims(dir), says);
  };
  try {
    refused(null, /cannot be read .*point at a folder that `envladder claims` wrote/);
    refused('{"schema_version": "1.0', /cannot be read/);
    refused('null', /no schema_version, this program reads 1\.x/);
    refused(JSON.stringify({ ...MADE_RECORD, schema_version: '2.0.0' }), /schema version 2\.0\.0, this program reads 1\.x/);
    refused(JSON.stringify({ ...MADE_RECORD, seed: 'x' }), /seed: .*damaged or was written by hand/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
