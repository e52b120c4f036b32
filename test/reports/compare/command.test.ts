// Goal: the commands end with the exit code of their verdict and print what was asked for and nothing else.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCli } from '../../cli/run-cli.js';
import { makeRuns, writeRuns } from './made-runs.js';

const folder = mkdtempSync(join(tmpdir(), 'envladder-compare-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (...names: string[]) => join(folder, ...names);
writeRuns(at('base'), makeRuns({ name: 'base', runs: 8, seed: 1 }));
writeRuns(at('same'), makeRuns({ name: 'same', runs: 8, seed: 2 }));
writeRuns(at('slow'), makeRuns({ name: 'slow', runs: 8, seed: 3, slower: 1.12 }));

test('a regression ends with exit code 6 and one JSON document', async () => {
  const { code, stdout, stderr } = await runCli(['compare', at('base'), at('slow'), '--json']);
  assert.equal(code, 6, stderr);
  const document = JSON.parse(stdout) as { verdict: string; exit_code: number; reproduce: string[] };
  assert.deepEqual([document.verdict, document.exit_code], ['regressed', 6]);
  assert.deepEqual(document.reproduce, [`npm run -s envladder -- compare ${at('base')} ${at('slow')} --json`]);
});

test('equal programs end with 0; the comment goes to its file, the table to stdout', async () => {
  const { code, stdout, stderr } = await runCli(['compare', at('base'), at('same'), '--markdown', at('comment.md')]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\n {2}PASS\n/);
  assert.match(readFileSync(at('comment.md'), 'utf8'), /^### envladder: no regression\n/);
});

test('several folders a side are compared, and declared noise can be given', async () => {
  const runs = (name: string, numbers: readonly number[]) => numbers.map((number) => at(name, `${name}-00${number}`));
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const words = ['compare', '--base-runs', ...runs('base', numbers), '--candidate-runs', ...runs('slow', numbers), '--markdown'];
  const strict = await runCli(words);
  assert.equal(strict.code, 6, strict.stderr);
  assert.match(strict.stdout, /^### envladder: REGRESSED\n/);
  const noise = 'sampling_sps=0.3,training_sps=0.3,goodput_sps=0.3,step_latency_us.p50=0.3,step_latency_us.p99=0.3,time_to_all_live_s=0.3';
  const lenient = await runCli([...words, '--noise', noise]);
  assert.equal(lenient.code, 0, lenient.stderr);
});

test('what cannot be compared is refused with exit code 2 and the way to do it', async () => {
  for (const [words, pattern] of [
    [['compare'], /two sides are needed/],
    [['compare', at('base')], /two sides are needed/],
    [['compare', at('base'), at('nothing')], /no such folder/],
    [['compare', at('base'), at('same'), '--base', 'main'], /--base GIT_REF makes its own runs/],
    [['compare', at('base'), at('same'), '--noise', 'speed=1'], /no timing metric is called 'speed'/],
    [['compare', '--base', 'HEAD', '--runs', '3'], /--runs 3: give a whole number from 8/],
  ] as const) {
    const { code, stdout, stderr } = await runCli(words);
    assert.equal(code, 2, words.join(' '));
    assert.match(stderr, pattern);
    assert.equal(stdout, '');
  }
});

test('history adds runs once, prints their metrics and writes the page', async () => {
  const added = await runCli(['history', at('base'), '--dir', at('history')]);
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stdout, /sampling_sps @ 1,000 envs +8 /);
  assert.match(readFileSync(at('history', 'history.html'), 'utf8'), /<figure>/);
  const again = await runCli(['history', at('base'), '--dir', at('history')]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /already in/);
  const shown = await runCli(['history', '--dir', at('history'), '--json']);
  assert.equal((JSON.parse(shown.stdout) as { runs: number }[])[0]?.runs, 8);
});
