// Finds or builds the Pulumi CLI that the rig tests drive: a `pulumi` of the pinned version on the PATH, or one in the cache, or one built
// from its published Go module (4 to 6 minutes, once per machine; needs Go). Prints the binary's path, progress goes to stderr.
// Ends with 75 when this machine cannot have it. Users who stand up a rig install Pulumi the ordinary way and need none of this.
// Usage: node scripts/setup-pulumi.mjs [--print]   (--print builds nothing; prints the path or nothing)
import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { buildOnce, cacheRoot, EXIT_LACKING, runSetup, SetupError } from './cached-build.mjs';

const MODULE = 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi';
const VERSION_SYMBOL = 'github.com/pulumi/pulumi/sdk/v3/go/common/version.Version';
/** Sources and objects of one build, measured: 1.4 and 1.6 GB, and room to spare. */
const NEEDED_BYTES = 4 * 2 ** 30;

/** The pin is the npm wrapper's version, so that `npx pulumi` and this script mean the same CLI. */
function pinnedVersion() {
  const require = createRequire(import.meta.url);
  try {
    return JSON.parse(readFileSync(require.resolve('pulumi/package.json'), 'utf8')).version;
  } catch {
    throw new SetupError('the package pulumi is not installed: run npm ci first');
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const versionOf = (binary) =>
  spawnSync(binary, ['version'], { encoding: 'utf8', env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: 'true' } }).stdout?.trim();

/** The wrapper in node_modules/.bin is no CLI: it downloads one. */
function findOnPath(version) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'));
  return folders
    .map((folder) => join(folder, 'pulumi'))
    .filter(isExecutable)
    .find((binary) => versionOf(binary) === `v${version}`);
}

function findGo() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin'];
  const go = folders.map((folder) => join(folder, 'go')).find(isExecutable);
  if (!go) throw new SetupError('no Pulumi CLI of the pinned version and no Go to build it with', EXIT_LACKING);
  return go;
}

function run(command, args, options) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  if (result.status === 0) return;
  const said = result.error?.message ?? result.stderr.trim().split('\n').slice(-8).join('\n');
  throw new SetupError(`${command} ${args.slice(0, 3).join(' ')} failed:\n${said}`);
}

function build(go, version, work) {
  const source = join(work, 'module');
  mkdirSync(source);
  writeFileSync(join(source, 'go.mod'), 'module example.invalid/pulumi-cli\n\ngo 1.26\n');
  // Caches of its own, deleted afterwards: the binary is 115 MB, what it is made of three gigabytes. Caches that the user names are kept.
  const caches = { GOMODCACHE: join(work, 'modules'), GOCACHE: join(work, 'objects') };
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-modcacherw', GOWORK: 'off', ...caches };
  for (const name of Object.keys(caches)) if (process.env[name]) env[name] = process.env[name];
  const options = { cwd: source, env };
  console.error(`setup-pulumi: fetching the sources of Pulumi ${version} ...`);
  run(go, ['get', '-tool', `${MODULE}@v${version}`], options);
  console.error('setup-pulumi: compiling, 4 to 6 minutes on two cores ...');
  const flags = ['-trimpath', '-tags', 'osusergo,grpcnotrace', '-ldflags', `-s -w -X ${VERSION_SYMBOL}=v${version}`];
  run(go, ['build', ...flags, '-o', join(work, 'bin', 'pulumi'), MODULE], options);
  for (const folder of [source, ...Object.values(caches)]) rmSync(folder, { recursive: true, force: true });
  chmodSync(join(work, 'bin', 'pulumi'), 0o755);
  const built = versionOf(join(work, 'bin', 'pulumi'));
  if (built !== `v${version}`) throw new SetupError(`the CLI that was built calls itself ${built}, not v${version}`);
}

async function main(args) {
  const unknown = args.find((argument) => argument !== '--print');
  if (unknown) throw new SetupError(`unknown argument '${unknown}'; the only one is --print, which builds nothing`, 64);
  const version = pinnedVersion();
  const name = `pulumi-${version}-${process.arch}`;
  const cached = join(cacheRoot(), name, 'bin', 'pulumi');
  const found = findOnPath(version) ?? (existsSync(cached) ? cached : undefined);
  if (found) return console.log(found);
  if (args.includes('--print')) return;
  const go = findGo();
  const folder = await buildOnce(name, NEEDED_BYTES, (work) => build(go, version, work));
  console.log(join(folder, 'bin', 'pulumi'));
}

await runSetup('setup-pulumi', main);
