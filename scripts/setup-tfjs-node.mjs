// Builds the native TensorFlow.js backend (@tensorflow/tfjs-node) without its install script, which downloads from a host that many
// machines cannot reach: libtensorflow comes out of the PyPI wheel of tensorflow-cpu, the binding is compiled from the package's own
// sources. The result lives in a cache outside node_modules, keyed by everything that went into it; node_modules gets two symlinks, so a
// second run after `npm ci` takes milliseconds. Usage: node scripts/setup-tfjs-node.mjs [--print]
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

const TENSORFLOW = '2.15.1';
const WHEEL = `tensorflow_cpu-${TENSORFLOW}-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl`;
const WHEEL_SHA256 = '54660c074d7241a503e81edfd9f5ef5af88f64051b72e2945f26318c790f2d26';
/** 207 MB wheel and 615 MB of libraries at once, and room to spare. */
const NEEDED_BYTES = 900 * 2 ** 20;
const NAPI = 8;
const FLAGS = ['-std=c++17', '-O2', '-fPIC', '-shared', `-DNAPI_VERSION=${NAPI}`];
const BINDING = join('lib', `napi-v${NAPI}`, 'tfjs_binding.node');

class SetupError extends Error {}

function packageFolder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    throw new SetupError(`the package ${name} is not installed: run npm ci (without --omit=optional) first`);
  }
}

/** Runs a command; returns its stdout or throws with the end of what it said. */
function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  if (result.status === 0) return result.stdout;
  const said = result.error?.message ?? `${result.stderr}`.trim().split('\n').slice(-8).join('\n');
  throw new SetupError(`${command} ${args.slice(0, 4).join(' ')}... failed:\n${said}`);
}

/** The first python3 on the path whose pip answers; several may be installed and not all have one. */
function findPython() {
  const names = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3.9'];
  const paths = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  for (const path of paths) {
    if (existsSync(path) && spawnSync(path, ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0) return path;
  }
  throw new SetupError(
    'no python3 with pip was found on the PATH; install one (Debian, Ubuntu: apt-get install python3-pip). It only fetches and unpacks a wheel',
  );
}

function findCompiler() {
  const candidates = process.env.CXX ? [process.env.CXX] : ['g++', 'clang++', 'c++'];
  for (const name of candidates) {
    const probe = spawnSync(name, ['--version'], { encoding: 'utf8' });
    if (probe.status === 0) return { name, version: probe.stdout.split('\n')[0] };
  }
  throw new SetupError(`no C++ compiler was found (looked for ${candidates.join(', ')}): apt-get install g++, or name it in CXX`);
}

function sourcesOf(tfjsNode) {
  const folder = join(tfjsNode, 'binding');
  return readdirSync(folder)
    .filter((name) => /\.(cc|h)$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Where everything lies or will lie. */
function locate() {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new SetupError(
      `the wheel used here is for Linux on x64, this is ${process.platform} on ${process.arch}: stay with the wasm backend`,
    );
  }
  const tfjsNode = packageFolder('@tensorflow/tfjs-node');
  const version = JSON.parse(readFileSync(join(tfjsNode, 'package.json'), 'utf8')).version;
  const hash = createHash('sha256').update(JSON.stringify([version, WHEEL_SHA256, FLAGS, process.arch]));
  for (const source of sourcesOf(tfjsNode)) hash.update(readFileSync(source));
  const key = `tfjs-node-${version}-tensorflow-${TENSORFLOW}-${hash.digest('hex').slice(0, 12)}`;
  const root = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'envladder');
  return { tfjsNode, version, root, cache: join(root, key) };
}

function freeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Downloads the wheel with pip, checked against its hash. */
function download(python, folder) {
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, `tensorflow-cpu==${TENSORFLOW} --hash=sha256:${WHEEL_SHA256}\n`);
  const target = [
    '--python-version',
    '3.11',
    '--implementation',
    'cp',
    '--abi',
    'cp311',
    '--platform',
    'manylinux_2_17_x86_64',
    '--only-binary=:all:',
  ];
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-cache-dir'];
  run(python, ['-m', 'pip', 'download', ...quiet, ...target, '--require-hashes', '-r', requirements, '-d', folder]);
  return join(folder, WHEEL);
}

/** Unpacks the two libraries and the C headers, nothing else of the wheel's 2,600 files. */
function unpack(python, wheel, deps) {
  const script = `
import os, shutil, sys, zipfile
wheel, deps = sys.argv[1:]
wanted = {'tensorflow/libtensorflow_cc.so.2': 'lib/libtensorflow_cc.so.2', 'tensorflow/libtensorflow_framework.so.2': 'lib/libtensorflow_framework.so.2'}
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(('tensorflow/include/tensorflow/c/', 'tensorflow/include/tensorflow/core/platform/', 'tensorflow/include/tsl/')) and name.endswith('.h'):
            wanted[name] = name.replace('tensorflow/include/', 'include/', 1)
    for name, target in wanted.items():
        path = os.path.join(deps, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(name) as source, open(path, 'wb') as out:
            shutil.copyfileobj(source, out, 1 << 20)
`;
  run(python, ['-c', script, wheel, deps]);
  // The linker asks for these names, the binding for the ones they point to.
  symlinkSync('libtensorflow_cc.so.2', join(deps, 'lib', 'libtensorflow.so'));
  symlinkSync('libtensorflow_framework.so.2', join(deps, 'lib', 'libtensorflow_framework.so'));
}

function compile(compiler, tfjsNode, cache) {
  const deps = join(cache, 'deps');
  mkdirSync(dirname(join(cache, BINDING)), { recursive: true });
  const sources = sourcesOf(tfjsNode).filter((source) => source.endsWith('.cc'));
  const includes = [join(packageFolder('node-api-headers'), 'include'), join(deps, 'include'), tfjsNode].flatMap((folder) => [
    '-I',
    folder,
  ]);
  const link = ['-L', join(deps, 'lib'), '-ltensorflow', '-ltensorflow_framework', '-Wl,-rpath,$ORIGIN/../../deps/lib'];
  run(compiler.name, [...FLAGS, ...includes, ...sources, '-o', join(cache, BINDING), ...link]);
}

/** Makes `link` point to `target`, replacing an older link or the package's own empty folder; leaves a real build of the package alone. */
function point(link, target) {
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() && readlinkSync(link) === target) return;
  if (found?.isDirectory() && existsSync(join(link, 'lib', 'libtensorflow.so'))) return;
  if (found) rmSync(link, { recursive: true });
  symlinkSync(target, link);
}

function build({ tfjsNode, root, cache }) {
  const python = findPython();
  const compiler = findCompiler();
  mkdirSync(root, { recursive: true });
  const free = freeBytes(root);
  if (free < NEEDED_BYTES) {
    throw new SetupError(
      `${root} has ${Math.floor(free / 2 ** 20)} MB free, ${NEEDED_BYTES / 2 ** 20} MB are needed: make room, or set XDG_CACHE_HOME to another disk`,
    );
  }
  // Work beside the cache, so that taking it over is a rename and a run that was interrupted leaves nothing that looks finished.
  const work = mkdtempSync(join(root, 'building-'));
  try {
    console.log(`fetching tensorflow-cpu ${TENSORFLOW} from PyPI (207 MB) ...`);
    const wheel = download(python, work);
    console.log('unpacking libtensorflow ...');
    unpack(python, wheel, join(work, 'deps'));
    rmSync(wheel);
    console.log(`compiling the binding with ${compiler.version} ...`);
    compile(compiler, tfjsNode, work);
    try {
      renameSync(work, cache);
    } catch (error) {
      // Another run was faster; its result is as good as ours.
      if (!existsSync(join(cache, BINDING))) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Loads the backend in a process of its own and computes something with it. */
function prove() {
  const script = `
    const tf = require('@tensorflow/tfjs-node');
    const sum = tf.matMul(tf.ones([2, 3]), tf.ones([3, 2])).dataSync().join();
    if (sum !== '3,3,3,3') throw new Error('a product of ones came out as ' + sum);
    console.log(tf.getBackend() + ', TensorFlow ' + tf.backend().binding.TF_Version);`;
  const env = { ...process.env, TF_CPP_MIN_LOG_LEVEL: '2' };
  return run(process.execPath, ['-e', script], { cwd: dirname(import.meta.dirname), env }).trim();
}

function main(args) {
  const unknown = args.filter((argument) => argument !== '--print');
  if (unknown.length > 0)
    throw new SetupError(`unknown argument '${unknown[0]}'; the only one is --print, which shows the state and changes nothing`);
  const place = locate();
  const { tfjsNode, version, cache } = place;
  const links = [
    [join(tfjsNode, 'deps'), join(cache, 'deps')],
    [join(tfjsNode, 'lib'), join(cache, 'lib')],
  ];
  const built = existsSync(join(cache, BINDING));
  if (args.includes('--print')) {
    const linked = links.every(
      ([link, target]) => existsSync(link) && realpathSync(link) === (existsSync(target) ? realpathSync(target) : target),
    );
    console.log(
      `package  @tensorflow/tfjs-node ${version}\nlibrary  tensorflow-cpu ${TENSORFLOW}\ncache    ${cache} (${built ? 'built' : 'not built'})\nlinked   ${linked ? 'yes' : 'no'}`,
    );
    return;
  }
  if (!built) build(place);
  for (const [link, target] of links) point(link, target);
  console.log(`@tensorflow/tfjs-node ${version} is ready (${prove()}); cache: ${cache}`);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`setup:tfjs-node: ${error.message}`);
  process.exitCode = 1;
}
