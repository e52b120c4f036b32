// Goal: a release carries what production needs and nothing else, and an addon that the rig's host could not load is found before it is sent.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { beyondHost, compareVersions, libraryNeeds } from '../../infra/glibc-needs.js';
import { packRelease } from '../../infra/release-archive.js';
import { belongsInRelease, productionPackages } from '../../infra/release-files.js';

const ROOT = join(import.meta.dirname, '..', '..');

/** As version names stand in an ELF string table. */
const addonWith = (...names: string[]): Buffer => Buffer.from(`\u007fELF\0${names.join('\0')}\0tail`, 'latin1');

/** A project of three files, one production, one dev and one optional package. */
function smallProject(addon: Buffer): string {
  const root = mkdtempSync(join(tmpdir(), 'envladder-project-'));
  const put = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  put(
    'package.json',
    JSON.stringify({ name: 'envladder', version: '9.9.9', files: ['dist', 'native/build/envladder.node'], engines: { node: '>=20' } }),
  );
  put('dist/main.js', 'console.log(1)');
  put('native/build/envladder.node', addon);
  put('notes.txt', 'not in files');
  put(
    'package-lock.json',
    JSON.stringify({
      packages: {
        '': {},
        'node_modules/used': {},
        'node_modules/used/node_modules/inner': {},
        'node_modules/only-dev': { dev: true },
        'node_modules/only-optional': { optional: true },
      },
    }),
  );
  put('node_modules/used/index.js', '1');
  put('node_modules/used/index.d.ts', '1');
  put('node_modules/used/LICENSE.md', 'MIT');
  put('node_modules/used/node_modules/inner/index.js', '2');
  put('node_modules/only-dev/index.js', '3');
  put('node_modules/only-optional/index.js', '4');
  return root;
}

describe('a release', () => {
  it('takes exactly the production packages of the lock file, and none that is only for development or optional', () => {
    const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
    const packages = productionPackages(lock);
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
    for (const name of Object.keys(dependencies)) assert.ok(packages.includes(`node_modules/${name}`), name);
    for (const name of ['@pulumi/pulumi', 'ssh2', 'typescript', 'tsx', '@tensorflow/tfjs-node'])
      assert.ok(!packages.includes(`node_modules/${name}`), name);
  });

  it('leaves out what only editors, debuggers and compilers read, and keeps every licence', () => {
    for (const path of ['dist/tf.js.map', 'index.d.ts', 'README.md', 'types.d.mts'])
      assert.equal(belongsInRelease(path, false), false, path);
    for (const path of ['index.js', 'build/lib.js', 'LICENSE', 'LICENSE.md', 'NOTICE.md', 'data.json', 'a.wasm'])
      assert.equal(belongsInRelease(path, false), true, path);
    for (const path of ['deps/sqlite3.c', 'src/a.cpp', 'build/Release/obj/x.node', 'build/Release/test_extension.node'])
      assert.equal(belongsInRelease(path, true), false, path);
    assert.equal(belongsInRelease('build/Release/better_sqlite3.node', true), true);
  });

  it('is one archive whose manifest lists every other file, and the same tree gives the same bytes', () => {
    const root = smallProject(addonWith('GLIBC_2.14', 'GLIBCXX_3.4.21'));
    const out = mkdtempSync(join(tmpdir(), 'envladder-release-'));
    const first = packRelease(root, out);
    const again = packRelease(root, mkdtempSync(join(tmpdir(), 'envladder-release-')));
    assert.equal(again.hash, first.hash);
    assert.ok(first.archive.endsWith(`envladder-9.9.9-${first.hash.slice(0, 16)}.tar.gz`));
    assert.deepEqual(JSON.parse(readFileSync(`${first.archive}.json`, 'utf8')), first);
    execFileSync('tar', ['-xzf', first.archive, '-C', out]);
    const at = join(out, 'envladder');
    execFileSync('sha256sum', ['--quiet', '--strict', '-c', 'MANIFEST.sha256'], { cwd: at });
    const files = execFileSync('find', ['.', '-type', 'f'], { cwd: at, encoding: 'utf8' }).trim().split('\n').sort();
    assert.deepEqual(files, [
      './MANIFEST.sha256',
      './dist/main.js',
      './native/build/envladder.node',
      './node_modules/used/LICENSE.md',
      './node_modules/used/index.js',
      './node_modules/used/node_modules/inner/index.js',
      './package.json',
      './release.json',
    ]);
    assert.equal(first.glibc, '2.14');
  });

  it('is refused when an addon needs a newer C library than Ubuntu 22.04 has, and nothing is left in the folder', () => {
    const out = mkdtempSync(join(tmpdir(), 'envladder-release-'));
    assert.throws(
      () => packRelease(smallProject(addonWith('GLIBC_2.14', 'GLIBC_2.38')), out),
      (error) =>
        error instanceof EnvladderError && error.code === 'native-missing' && /GLIBC_2\.38, Ubuntu 22\.04 has 2\.35/.test(error.message),
    );
    assert.deepEqual(execFileSync('find', [out, '-type', 'f'], { encoding: 'utf8' }), '');
  });

  it('is refused without the addon, with the way to build it', () => {
    const root = smallProject(addonWith('GLIBC_2.14'));
    writeFileSync(
      join(root, 'package.json'),
      JSON.stringify({ name: 'envladder', version: '9.9.9', files: ['dist'], engines: { node: '>=20' } }),
    );
    assert.throws(() => packRelease(root, tmpdir()), /native\/build\/envladder\.node.*npm run native/s);
  });

  it('is refused with a dependency that npm installed without compiling it', () => {
    const root = smallProject(addonWith('GLIBC_2.14'));
    writeFileSync(join(root, 'node_modules/used/binding.gyp'), '{}');
    assert.throws(
      () => packRelease(root, tmpdir()),
      (error) => error instanceof EnvladderError && error.code === 'native-missing' && /npm rebuild used$/.test(error.message),
    );
  });
});

describe('what an addon needs of the C library', () => {
  it('is the highest of the version names in it, compared as numbers', () => {
    assert.deepEqual(libraryNeeds(addonWith('GLIBC_2.2.5', 'GLIBC_2.34', 'GLIBC_2.4', 'GLIBCXX_3.4.9', 'GLIBCXX_3.4.30')), {
      glibc: '2.34',
      glibcxx: '3.4.30',
    });
    assert.deepEqual(libraryNeeds(addonWith('nothing')), { glibc: null, glibcxx: null });
    assert.ok(compareVersions('3.4.9', '3.4.30') < 0 && compareVersions('2.35', '2.4') > 0 && compareVersions('2.34', '2.34') === 0);
  });

  it('is judged against both libraries of the host', () => {
    assert.equal(beyondHost({ glibc: '2.35', glibcxx: '3.4.30' }), null);
    assert.match(beyondHost({ glibc: '2.36', glibcxx: null }) ?? '', /GLIBC_2\.36/);
    assert.match(beyondHost({ glibc: '2.14', glibcxx: '3.4.31' }) ?? '', /GLIBCXX_3\.4\.31/);
  });

  it('of the addons built here is within what Ubuntu 22.04 has', (t) => {
    for (const file of ['native/build/envladder.node', 'node_modules/better-sqlite3/build/Release/better_sqlite3.node']) {
      if (!existsSync(join(ROOT, file))) return t.skip(`${file} is not built`);
      assert.equal(beyondHost(libraryNeeds(readFileSync(join(ROOT, file)))), null, file);
    }
  });
});
