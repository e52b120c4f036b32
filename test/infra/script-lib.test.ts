// Goal: every script of the rig refuses what it does not know, answers with one JSON line and the right exit code, keeps what was there
// before the first apply, and goes on from wherever an earlier apply was killed. No machine is touched: state lies in a temporary folder.
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { runScript, SCRIPTS } from './run-script.js';

const lacking = process.getuid?.() === 0 ? false : 'SKIPPED(scripts of the rig run as root)';

/** A script of one file, with every kind of parameter. `crash` ends it between two steps. */
const TOY = `#!/bin/bash
. "${SCRIPTS}/lib.sh"
param file '/[A-Za-z0-9/._-]+' 'an absolute path'
param text '[ -~]*' 'printable text' 'hello'
secret token
facts() { fact text "\${P[text]}"; }
want() {
  want_dir "$(dirname "\${P[file]}")/inner" 700 root:root
  printf '%s' "\${P[text]}" | want_file "\${P[file]}" 640 root:root
}
check() { want; }
apply() {
  keep first "\${P[text]}"
  want
  case \${P[text]} in
    crash) kill -9 $$ ;;
    hang) bounded 1 sleep 60 ;;
    break) bounded 60 grep -q nothing /dev/null "\${SECRET[token]}" ;;
  esac
}
revert() { say "first was $(kept first)"; }
main "$@"
`;

describe('the frame of the scripts', { skip: lacking }, () => {
  let folder: string;
  let toy: string;
  const run = (words: readonly string[], input = 'token=t0ken\n') => runScript(toy, words, { input, state: join(folder, 'state') });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rig-script-'));
    toy = join(folder, 'toy.sh');
    writeFileSync(toy, TOY);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const target = () => join(folder, 'made', 'file');

  it('names the command that failed or never ended, as it is written and so without values', () => {
    const hung = run(['apply', `file=${target()}`, 'text=hang']);
    strictEqual(hung.code, 70);
    match(hung.stderr, /toy: no end within 1 s: sleep 60\n/);
    match(String(hung.json['error']), /^line \d+ of toy\.sh failed .*: hang\) bounded 1 sleep 60 ;;$/);
    const broken = run(['apply', `file=${target()}`, 'text=break']);
    match(String(broken.json['error']), /: break\) bounded 60 grep -q nothing \/dev\/null "\$\{SECRET\[token\]\}" ;;$/);
    ok(!broken.stdout.includes('t0ken'), 'no secret');
  });

  it('finds a difference, mends it once, and puts back what was there', () => {
    const words = [`file=${target()}`, 'text=wanted'];
    const before = run(['check', ...words]);
    strictEqual(before.code, 1);
    deepStrictEqual(before.json.differs, [`dir:${join(folder, 'made/inner')}`, `file:${target()}`]);
    ok(!existsSync(join(folder, 'made')), 'check made nothing');
    const applied = run(['apply', ...words]);
    deepStrictEqual([applied.code, applied.json.changed], [0, true]);
    strictEqual(readFileSync(target(), 'utf8'), 'wanted\n');
    strictEqual(statSync(target()).mode & 0o777, 0o640);
    strictEqual(statSync(join(folder, 'state', 'toy')).mode & 0o777, 0o700);
    const again = run(['apply', ...words]);
    deepStrictEqual([again.code, again.json.changed], [0, false]);
    strictEqual(run(['check', ...words]).code, 0);
    const reverted = run(['revert']);
    deepStrictEqual([reverted.code, reverted.json.changed], [0, true]);
    ok(!existsSync(join(folder, 'made')) && !existsSync(join(folder, 'state')));
    const nothing = run(['revert']);
    deepStrictEqual([nothing.code, nothing.json.changed], [0, false]);
  });

  it('keeps the file from before the first apply, whatever later applies write', () => {
    mkdirSync(join(folder, 'made'));
    writeFileSync(target(), "somebody's\n");
    chmodSync(target(), 0o604);
    run(['apply', `file=${target()}`, 'text=one']);
    run(['apply', `file=${target()}`, 'text=two']);
    strictEqual(readFileSync(join(folder, 'state/toy/first'), 'utf8'), 'one\n');
    strictEqual(run(['revert']).code, 0);
    strictEqual(readFileSync(target(), 'utf8'), "somebody's\n");
    strictEqual(statSync(target()).mode & 0o777, 0o604);
    deepStrictEqual(readdirSync(join(folder, 'made')), ['file']);
  });

  it('says that an apply was killed, and the next one goes on from there', () => {
    const killed = run(['apply', `file=${target()}`, 'text=crash']);
    strictEqual(killed.signal, 'SIGKILL');
    const seen = run(['check', `file=${target()}`, 'text=crash']);
    deepStrictEqual([seen.code, seen.json.differs], [1, ['unfinished']]);
    strictEqual(run(['apply', `file=${target()}`, 'text=whole']).code, 0);
    strictEqual(run(['check', `file=${target()}`, 'text=whole']).code, 0);
    strictEqual(run(['revert']).code, 0);
    ok(!existsSync(join(folder, 'made')));
  });

  it('answers usage errors with 64, the key, and nothing done', () => {
    const cases: readonly [readonly string[], RegExp][] = [
      [[], /first word must be check, apply or revert/],
      [['mend'], /not 'mend'/],
      [['check', 'word'], /'word' is not key=value/],
      [['check', '=x'], /not key=value/],
      [['check', 'colour=red'], /unknown key 'colour'; known: file text/],
      [['check', 'text=x'], /file is missing: an absolute path/],
      [['check', 'file=relative'], /file must be an absolute path, not 'relative'/],
      [['check', 'file=/a\n/b'], /file must be an absolute path/],
      [['check', 'file=/a', 'file=/b'], /file is given twice/],
      [['revert', 'file=x y'], /file must be an absolute path/],
    ];
    for (const [words, error] of cases) {
      const { code, json } = run(words);
      strictEqual(code, 64, words.join(' '));
      match(String(json.error), error);
      strictEqual(json.changed, false);
    }
    ok(!existsSync(join(folder, 'state')));
  });

  it('takes secrets from stdin alone and repeats none of them', () => {
    const words = [`file=${target()}`];
    const missing = run(['apply', ...words], '');
    strictEqual(missing.code, 64);
    match(String(missing.json.error), /secret token is missing on stdin/);
    const wrong = run(['apply', ...words], 'passwort=Hidden-7c1\n');
    strictEqual(wrong.code, 64);
    ok(!`${wrong.stdout}${wrong.stderr}`.includes('Hidden-7c1'));
    strictEqual(run(['apply', 'token=Hidden-7c1', ...words]).code, 64, 'a secret as an argument is an unknown key');
    const good = run(['apply', ...words], 'token=Hidden-7c1');
    strictEqual(good.code, 0);
    ok(!`${good.stdout}${good.stderr}`.includes('Hidden-7c1'));
    strictEqual(run(['check', ...words], '').code, 0, 'check goes without');
  });

  it('gives one line of JSON under 4 KiB for any text', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength: 400 }), (codes) => {
        const text = String.fromCharCode(...codes);
        const { code, stdout, json } = run(['check', `file=${target()}`, `text=${text}`]);
        strictEqual(code, 1);
        strictEqual(stdout.split('\n').length, 2);
        ok(stdout.length < 4096);
        strictEqual(String((json.after as Record<string, unknown>)['text']), text.slice(0, 200));
      }),
      { numRuns: 15 },
    );
  });

  it('one run at a time: the second waits for the first', () => {
    const slow = join(folder, 'slow.sh');
    writeFileSync(
      slow,
      `#!/bin/bash\n. "${SCRIPTS}/lib.sh"\ncheck() { if [ -e "$RIG_STATE/busy" ]; then differ busy; fi; mkdir -p "$RIG_STATE"; : >"$RIG_STATE/busy"; sleep 1; rm "$RIG_STATE/busy"; }\napply() { :; }\nrevert() { :; }\nmain "$@"\n`,
    );
    const both = runScript('-c', [`bash ${slow} check & bash ${slow} check; code=$?; wait $! && exit $code`], {
      state: join(folder, 'state'),
    });
    strictEqual(both.code, 0, both.stderr);
  });
});
