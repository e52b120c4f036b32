// Builds the release archive of the rig: npm's own pack of this package, production dependencies as they are installed here, and the addon.
// Its id is the archive's SHA-256; the same tree gives the same bytes. MANIFEST.sha256 in it lists every other file, so that what was unpacked
// can be verified later too. Nothing is fetched. Written by rig:pack, read by the program and by envladder-release.sh.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { EnvladderError } from '../harness/contract/errors.js';
import { beyondHost, compareVersions, libraryNeeds } from './glibc-needs.js';
import { belongsInRelease, productionPackages } from './release-files.js';

export interface Release {
  /** SHA-256 of the archive: the `hash` of the envladder-release concern. */
  readonly hash: string;
  readonly archive: string;
  readonly version: string;
  readonly git_commit: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly archive_bytes: number;
  /** Newest symbol versions over all native addons. */
  readonly glibc: string | null;
  readonly glibcxx: string | null;
  readonly addons: readonly string[];
  readonly node: string;
}

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: ['ignore', 'pipe', 'pipe'] });

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/** npm decides by package.json's `files` what the package is; it also builds it (its `prepare` script). */
function unpackOwnPackage(root: string, scratch: string, into: string): void {
  run('npm', ['pack', '--silent', '--pack-destination', scratch], root);
  const packed = readdirSync(scratch).find((name) => name.endsWith('.tgz'));
  if (packed === undefined) throw new EnvladderError('run-folder', `npm pack left no archive in ${scratch}`);
  run('tar', ['-xf', join(scratch, packed), '-C', into, '--strip-components=1'], root);
}

function copyDependencies(root: string, into: string): void {
  for (const folder of productionPackages(readFileSync(join(root, 'package-lock.json'), 'utf8'))) {
    const from = join(root, folder);
    if (!existsSync(from)) throw new EnvladderError('run-folder', `${folder} is in package-lock.json and not installed: run npm ci`);
    // What is nested in it has lines of its own in the lock file.
    const files = filesUnder(from).filter((file) => !/(^|\/)node_modules\//.test(file));
    const isCompiled = files.some((file) => file.endsWith('.node'));
    if (!isCompiled && files.includes('binding.gyp')) {
      const name = folder.slice('node_modules/'.length);
      throw new EnvladderError('native-missing', `${name} was installed without being compiled: run npm rebuild ${name}`);
    }
    for (const file of files.filter((each) => belongsInRelease(each, isCompiled))) {
      mkdirSync(dirname(join(into, folder, file)), { recursive: true });
      copyFileSync(join(from, file), join(into, folder, file));
    }
  }
}

/** Reads what the addons ask of the C library; throws `native-missing` for one that the rig's host could not load. */
function checkAddons(stage: string, files: readonly string[]): Pick<Release, 'glibc' | 'glibcxx' | 'addons'> {
  const addons = files.filter((file) => file.endsWith('.node'));
  if (!addons.includes('native/build/envladder.node'))
    throw new EnvladderError(
      'native-missing',
      'the release has no native/build/envladder.node: run npm run native, and look at `files` in package.json',
    );
  const needs = addons.map((file) => ({ file, ...libraryNeeds(readFileSync(join(stage, file))) }));
  for (const need of needs) {
    const beyond = beyondHost(need);
    if (beyond === null) continue;
    throw new EnvladderError('native-missing', `${need.file} needs ${beyond}: build the release on Debian 12, Ubuntu 22.04 or older`);
  }
  const highest = (library: 'glibc' | 'glibcxx'): string | null =>
    needs
      .flatMap((need) => need[library] ?? [])
      .sort(compareVersions)
      .at(-1) ?? null;
  return { glibc: highest('glibc'), glibcxx: highest('glibcxx'), addons };
}

function gitCommit(root: string): string | null {
  try {
    const commit = run('git', ['rev-parse', 'HEAD'], root).trim();
    return run('git', ['status', '--porcelain', '--untracked-files=no'], root).trim() === '' ? commit : `${commit}+changes`;
  } catch {
    return null;
  }
}

function fillStage(root: string, scratch: string, stage: string): Omit<Release, 'hash' | 'archive' | 'archive_bytes'> {
  unpackOwnPackage(root, scratch, stage);
  copyDependencies(root, stage);
  const files = filesUnder(stage);
  for (const file of files) chmodSync(join(stage, file), 0o644);
  const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    engines: { node: string };
  };
  const facts = { version, git_commit: gitCommit(root), node: engines.node, ...checkAddons(stage, files) };
  writeFileSync(join(stage, 'release.json'), `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o644 });
  const bytes = files.reduce((sum, file) => sum + readFileSync(join(stage, file)).length, 0);
  return { ...facts, files: files.length + 2, bytes };
}

/** Packs `root` (a built or buildable clone with its dependencies installed) into `outDir` and returns what it made. */
export function packRelease(root: string, outDir: string): Release {
  const scratch = mkdtempSync(join(tmpdir(), 'envladder-pack-'));
  try {
    const stage = join(scratch, 'envladder');
    mkdirSync(stage);
    const facts = fillStage(root, scratch, stage);
    const lines = filesUnder(stage).map((file) => `${sha256(readFileSync(join(stage, file)))}  ${file}\n`);
    writeFileSync(join(stage, 'MANIFEST.sha256'), lines.join(''), { mode: 0o644 });
    mkdirSync(outDir, { recursive: true });
    const partial = join(outDir, `envladder-${process.pid}.partial`);
    // Same content, same bytes: no times, owners or order of the machine, and gzip without its own time stamp.
    const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
    run('tar', ['-I', 'gzip -n -6', '-cf', partial, ...fixed, '-C', scratch, 'envladder'], root);
    const content = readFileSync(partial);
    const hash = sha256(content);
    const archive = join(outDir, `envladder-${facts.version}-${hash.slice(0, 16)}.tar.gz`);
    renameSync(partial, archive);
    const release: Release = { hash, archive, ...facts, archive_bytes: content.length };
    writeFileSync(`${archive}.json`, `${JSON.stringify(release, null, 2)}\n`);
    return release;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
