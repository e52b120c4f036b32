// Goal: whatever a value holds, a shell on the host gets exactly these bytes as one word, and what no word can hold is refused.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EnvladderError } from '../../harness/contract/errors.js';
import { shellParams, shellQuote, stdinLines } from '../../infra/quote.js';

/** Any text with the characters that shells care about in the majority, and no NUL or line break. */
const words = fc.oneof(
  fc.string({ unit: fc.constantFrom(...`'"\\$\`!*?[]{}()<>|&;#~=% \t-abc/.,:@`) }),
  fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\0\n\r]/g, '')),
  fc.string({ unit: 'binary' }).map((text) => text.replace(/[\0\n\r]/g, '')),
);

/** One shell for many words: each comes back with a NUL after it. With nullglob a word that bash takes for a pattern disappears. */
function echoed(shell: string, commandWords: readonly string[]): string[] {
  const options = shell === 'bash' ? ['-O', 'nullglob'] : [];
  const result = spawnSync(shell, [...options, '-c', `for word in ${commandWords.join(' ')}; do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(result.status, 0, result.stderr);
  return result.stdout.split('\0').slice(0, -1);
}

describe('shellQuote', () => {
  for (const shell of ['bash', 'sh']) {
    it(`gives ${shell} the same bytes back, each value as one word`, () => {
      fc.assert(
        fc.property(fc.array(words, { minLength: 1, maxLength: 40 }), (values) =>
          assert.deepEqual(echoed(shell, values.map(shellQuote)), values),
        ),
        { numRuns: 60 },
      );
    });
  }

  it('keeps harmless words readable, and quotes what a shell would take for its own', () => {
    assert.equal(shellQuote('minDiskMb=2048'), 'minDiskMb=2048');
    assert.equal(shellQuote('/srv/a-b.c'), '/srv/a-b.c');
    for (const word of ['', '=x', '~', '#', 'a b', 'a;b', '-n$', "it's"]) assert.match(shellQuote(word), /^'/);
  });

  it('refuses NUL and line breaks and says so', () => {
    for (const bad of ['a\0b', 'a\nb', 'a\rb']) {
      assert.throws(
        () => shellQuote(bad),
        (error: unknown) => error instanceof EnvladderError && error.code === 'bad-usage',
      );
    }
  });
});

describe('shellParams and stdinLines', () => {
  it('depend on the values and not on their order', () => {
    assert.equal(shellParams({ b: '2', a: '1 1' }), "'a=1 1' b=2");
    assert.equal(shellParams({ a: '1 1', b: '2' }), shellParams({ b: '2', a: '1 1' }));
    assert.equal(stdinLines({ b: '2', a: '1' }), 'a=1\nb=2\n');
  });

  it('give a script the same keys and values back', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z][A-Za-z0-9]{0,9}$/), words, { minKeys: 1, maxKeys: 8 }), (params) => {
        const got = echoed('bash', [shellParams(params)]).map((pair) => [
          pair.slice(0, pair.indexOf('=')),
          pair.slice(pair.indexOf('=') + 1),
        ]);
        assert.deepEqual(Object.fromEntries(got), { ...params });
      }),
      { numRuns: 40 },
    );
  });

  it('refuse a secret of two lines without showing it', () => {
    assert.throws(
      () => stdinLines({ admin: 'hidden\nworld' }),
      (error: unknown) => error instanceof EnvladderError && /admin/.test(error.message) && !/hidden/.test(error.message),
    );
  });
});
