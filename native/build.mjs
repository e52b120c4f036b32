// Compiles the addon (and with --tests the native test programs) with whatever C++20 compiler the machine has: no node-gyp, no Python.
// Skips what is up to date by a hash over sources, compiler version and flags. Safe to run twice at once: results appear by rename.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, 'build');
const require = createRequire(import.meta.url);
const HINT = 'Install one (Debian, Ubuntu: apt-get install g++) or name it in CXX, then run: node native/build.mjs';

/** Variants of the test programs; a missing sanitizer runtime is reported, not fatal. */
const VARIANTS = {
  plain: ['-O2'],
  tsan: ['-O1', '-g', '-fsanitize=thread', '-Wno-tsan'],
  asan: ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-fno-omit-frame-pointer'],
};
/** Which variants make sense: TSan sees threads of one process, and the zombie test is about processes alone; `lives` can be both. */
const TEST_VARIANTS = {
  unit: ['plain', 'tsan', 'asan'],
  'torn-frames': ['plain', 'asan'],
  zombie: ['plain'],
  lives: ['plain', 'tsan', 'asan'],
};
const COMMON = ['-std=c++20', '-Wall', '-Wextra', '-pthread'];

function findCompiler() {
  const candidates = process.env.CXX ? [process.env.CXX] : ['g++', 'clang++', 'c++'];
  for (const name of candidates) {
    const probe = spawnSync(name, ['--version'], { encoding: 'utf8' });
    if (probe.status === 0) return { name, version: probe.stdout.split('\n')[0] ?? name };
  }
  throw new Error(`no C++ compiler found (looked for ${candidates.join(', ')}). ${HINT}`);
}

function packageDirectory(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    throw new Error(`the package ${name} is not installed. Run npm ci first.`);
  }
}

function sourcesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(h|cc)$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function hashOf(parts, files) {
  const hash = createHash('sha256').update(JSON.stringify(parts));
  for (const file of files) hash.update(file.slice(here.length)).update(readFileSync(file));
  return hash.digest('hex');
}

/** Compiles unless the stamp beside the target says that nothing changed. Returns 'built', 'current' or the compiler's complaint. */
function compile(compiler, flags, source, target, watched) {
  const stamp = `${target}.hash`;
  const hash = hashOf([compiler.version, flags, process.arch], watched);
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return 'current';
  mkdirSync(dirname(target), { recursive: true });
  const partial = `${target}.${process.pid}.partial`;
  const run = spawnSync(compiler.name, [...flags, source, '-o', partial], { encoding: 'utf8' });
  if (run.status !== 0) {
    rmSync(partial, { force: true });
    return run.stderr || String(run.error ?? `${compiler.name} ended with ${run.status ?? run.signal}`);
  }
  if (run.stderr) process.stderr.write(run.stderr);
  renameSync(partial, target);
  writeFileSync(`${stamp}.${process.pid}`, hash);
  renameSync(`${stamp}.${process.pid}`, stamp);
  return 'built';
}

function buildAddon(compiler) {
  const flags = [
    ...COMMON,
    '-O3',
    '-fPIC',
    '-shared',
    '-fvisibility=hidden',
    '-fno-exceptions',
    '-DNDEBUG',
    '-DNAPI_VERSION=8',
    '-DNAPI_DISABLE_CPP_EXCEPTIONS',
    '-DNODE_ADDON_API_DISABLE_DEPRECATED',
    '-DNODE_GYP_MODULE_NAME=envladder',
    '-isystem',
    packageDirectory('node-addon-api'),
    '-isystem',
    join(packageDirectory('node-api-headers'), 'include'),
  ];
  const target = join(out, 'envladder.node');
  const result = compile(compiler, flags, join(here, 'src', 'addon.cc'), target, sourcesIn(join(here, 'src')));
  if (result !== 'built' && result !== 'current') {
    throw new Error(
      `compiling the addon with ${compiler.version} failed:\n${result}\nA compiler for C++20 is needed (g++ 11, clang++ 14 or newer).`,
    );
  }
  console.log(`native: envladder.node ${result} (${compiler.version})`);
}

/** Test programs: native/test/NAME.cc -> native/build/test/NAME.VARIANT. What cannot be linked is listed in unavailable.json. */
function buildTests(compiler, only) {
  const watched = [...sourcesIn(join(here, 'src')), ...sourcesIn(join(here, 'test'))];
  const unavailable = {};
  for (const source of watched.filter((file) => file.startsWith(join(here, 'test')) && file.endsWith('.cc'))) {
    const name = source.slice(join(here, 'test').length + 1, -3);
    for (const variant of TEST_VARIANTS[name] ?? ['plain']) {
      if (only.length > 0 && !only.includes(variant)) continue;
      const target = join(out, 'test', `${name}.${variant}`);
      const result = compile(compiler, [...COMMON, ...VARIANTS[variant], '-I', join(here, 'src')], source, target, watched);
      if (result === 'built' || result === 'current') continue;
      const missing =
        variant !== 'plain' && /cannot find .*(tsan|asan|ubsan)|unsupported option|lib(tsan|asan|ubsan|clang_rt)/i.test(result);
      if (!missing) throw new Error(`compiling ${name} (${variant}) failed:\n${result}`);
      unavailable[`${name}.${variant}`] = `no runtime for ${variant}: ${result.split('\n')[0]}`;
    }
  }
  mkdirSync(join(out, 'test'), { recursive: true });
  writeFileSync(join(out, 'test', 'unavailable.json'), JSON.stringify(unavailable));
  console.log(
    `native: test programs are current${Object.keys(unavailable).length ? `; unavailable: ${Object.keys(unavailable).join(', ')}` : ''}`,
  );
}

try {
  const compiler = findCompiler();
  const args = process.argv.slice(2);
  if (args[0] === '--tests') buildTests(compiler, args.slice(1));
  else buildAddon(compiler);
} catch (error) {
  console.error(`native/build.mjs: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
