// The build script as a newcomer meets it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NATIVE } from './native-program.js';

function build(folder: string, env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [join(folder, 'native', 'build.mjs')], { encoding: 'utf8', env: { ...process.env, ...env } });
}

function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'envladder-build-'));
  mkdirSync(join(folder, 'native'));
  for (const part of ['build.mjs', 'src']) cpSync(join(NATIVE, part), join(folder, 'native', part), { recursive: true });
  symlinkSync(join(NATIVE, '..', 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('the addon is built once and again only when something changed', { timeout: 180_000 }, () => {
  // Goal: a second run costs nothing, a changed source is noticed, a broken one is an error with the compiler's words.
  const folder = checkout();
  try {
    assert.match(build(folder).stdout, /envladder\.node built/);
    assert.match(build(folder).stdout, /envladder\.node current/);
    writeFileSync(join(folder, 'native', 'src', 'clock.h'), 'this is not C++\n');
    const broken = build(folder);
    assert.equal(broken.status, 1);
    assert.match(broken.stderr, /compiling the addon with .* failed/);
    assert.match(broken.stderr, /C\+\+20/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('without a compiler the build says what to install', () => {
  // Goal: the newcomer's first obstacle names its remedy.
  const empty = build(join(NATIVE, '..'), { CXX: 'no-such-compiler' });
  assert.equal(empty.status, 1);
  assert.match(empty.stderr, /no C\+\+ compiler found \(looked for no-such-compiler\).*apt-get install g\+\+/);
});
