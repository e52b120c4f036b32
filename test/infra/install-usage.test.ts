// Goal: the scripts that install from files and run ladders refuse values they cannot work with before anything is touched, and name the key.
import { match, ok, strictEqual } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runScript, SCRIPTS } from './run-script.js';

const SUM = 'a'.repeat(64);
const FILE = ['version=525.85.12', `sha256=${SUM}`];

const REFUSED: readonly [script: string, words: readonly string[], error: RegExp][] = [
  ['nvidia-driver', ['version=525', `sha256=${SUM}`, 'runfile=/srv/d.run'], /^version must be a driver version/],
  ['nvidia-driver', [...FILE, 'runfile=d.run'], /^runfile must be an http\(s\) URL without user and password, or an absolute path/],
  ['nvidia-driver', [...FILE, 'runfile=https://user:pass@mirror.example/d.run'], /^runfile must be/],
  ['nvidia-driver', [...FILE, 'runfile=file:///srv/d.run'], /^runfile must be/],
  ['nvidia-driver', [...FILE, 'runfile=/srv/$(reboot).run'], /^runfile must be/],
  ['nvidia-driver', ['version=525.85.12', 'runfile=/srv/d.run', 'sha256=abc'], /^sha256 must be 64 hexadecimal digits/],
  ['nvidia-driver', FILE, /^runfile is missing/],
  ['cuda-toolkit', ['version=11', 'runfile=/srv/c.run', `sha256=${SUM}`], /^version must be a toolkit version/],
  ['cuda-toolkit', ['version=11.8', 'runfile=/srv/c.run', `sha256=${SUM}`, 'cudnn=here'], /^cudnn must be/],
  ['node-runtime', ['version=18.20.0', 'url=/srv/n.tgz', `sha256=${SUM}`], /^version must be a version of Node 20 or 22/],
  ['node-runtime', ['version=20.20.2', 'url=ftp://x/n.tgz', `sha256=${SUM}`], /^url must be/],
  ['envladder-release', ['hash=0', 'path=a.tgz'], /^hash must be the SHA-256/],
  ['envladder-release', [`hash=${SUM}`, 'path=a b.tgz'], /^path must be/],
  ['ladder-run', ['plan=../smoke'], /^plan must be the name of a plan/],
  ['ladder-run', ['plan=smoke', 'options=--seconds 5; reboot'], /^options must be words for envladder ladder/],
  ['ladder-run', ['plan=smoke', 'options=--seconds  5'], /^options must be/],
  ['ladder-run', ['plan=smoke', 'configHash=xyz'], /^configHash must be 16 hexadecimal digits/],
  ['ladder-run', ['plan=smoke', 'wait=true'], /^wait must be yes or no/],
];

describe('refusals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rig-usage-'));
  const state = join(folder, 'state');
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [script, words, error] of REFUSED) {
    it(`${script} ${words.join(' ').replaceAll(SUM, 'SUM')}`, () => {
      for (const action of ['check', 'apply']) {
        const answer = runScript(join(SCRIPTS, `${script}.sh`), [action, ...words], { state });
        strictEqual(answer.code, 64, answer.stderr);
        match(String(answer.json['error']), error);
      }
      ok(!existsSync(state));
    });
  }
});
