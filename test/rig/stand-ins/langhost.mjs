// STAND-IN for pulumi-language-nodejs, Pulumi's language host for Node. The official one is part of Pulumi's download and not in the
// package registries; the rig tests use it where it is installed and this one elsewhere, and say which. It does what the CLI asks of a
// host to run one program in this repository: name the plugins the project needs, run the program with the options of Pulumi.yaml.
// It shows nothing about how the official host finds Node, TypeScript or package managers. docs/rig-tests.md lists what was copied.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Empty, engineAddress, proto, servePlugin, unary } from './grpc-plugin.mjs';

const { LanguageRuntimeService } = proto('language_grpc_pb');
const messages = proto('language_pb');
const plugins = proto('plugin_pb');
/** The SDK's program runner ends with this code after it has told the user what is wrong: nothing may be added. */
const EXIT_BAIL = 32;
const runner = createRequire(import.meta.url).resolve('@pulumi/pulumi/cmd/run');
let engine = engineAddress();

/** Packages that are resource plugins say so in their package.json: {"pulumi": {"resource": true, "name", "version"}}. */
function requiredPackages(root) {
  const modules = join(root, 'node_modules');
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return names.flatMap((name) => {
    const file = join(modules, name, 'package.json');
    const { pulumi, version } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    if (pulumi?.resource !== true) return [];
    return [{ name: pulumi.name ?? name.split('/').pop(), version: `v${(pulumi.version ?? version).replace(/^v/, '')}` }];
  });
}

function programArguments(request) {
  const info = request.getInfo();
  const options = info.getOptions()?.toJavaScript() ?? {};
  const nodeArguments = typeof options.nodeargs === 'string' ? options.nodeargs.split(/\s+/).filter(Boolean) : [];
  const flags = {
    monitor: request.getMonitorAddress(),
    engine,
    organization: request.getOrganization(),
    project: request.getProject(),
    stack: request.getStack(),
    'root-directory': info.getRootDirectory(),
    pwd: request.getPwd(),
    parallel: String(request.getParallel()),
  };
  const named = Object.entries(flags).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  const dry = request.getDryrun() ? ['--dry-run'] : [];
  return { options, all: [...nodeArguments, runner, ...named, ...dry, info.getEntryPoint(), ...request.getArgsList()] };
}

function programEnvironment(request, options) {
  return {
    ...process.env,
    PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().entries())),
    PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    ...(options.typescript === false ? {} : { PULUMI_NODEJS_TYPESCRIPT: 'true' }),
  };
}

async function runProgram(request) {
  const { options, all } = programArguments(request);
  // stdout belongs to the plugin protocol only in its first line; after it the CLI shows what the program prints.
  const child = spawn(process.execPath, all, {
    cwd: request.getInfo().getProgramDirectory(),
    env: programEnvironment(request, options),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = await new Promise((resolve) => {
    child.on('error', (error) => resolve([`could not start: ${error.message}`, null]));
    child.on('exit', (exitCode, exitSignal) => resolve([exitCode, exitSignal]));
  });
  const response = new messages.RunResponse();
  if (code === EXIT_BAIL) response.setBail(true);
  else if (code !== 0) response.setError(`the program ended with ${signal ?? code}`);
  return response;
}

servePlugin(LanguageRuntimeService, {
  handshake: unary(async (request) => {
    engine = request.getEngineAddress() || engine;
    return new messages.LanguageHandshakeResponse();
  }),
  getPluginInfo: unary(async () => new plugins.PluginInfo()),
  getRequiredPackages: unary(async (request) => {
    const response = new messages.GetRequiredPackagesResponse();
    for (const { name, version } of requiredPackages(request.getInfo().getRootDirectory())) {
      const dependency = new plugins.PackageDependency();
      dependency.setName(name);
      dependency.setKind('resource');
      dependency.setVersion(version);
      response.addPackages(dependency);
    }
    return response;
  }),
  run: unary(runProgram),
  about: unary(async () => {
    const response = new messages.AboutResponse();
    response.setExecutable(process.execPath);
    response.setVersion(process.version);
    return response;
  }),
  runtimeOptionsPrompts: unary(async () => new messages.RuntimeOptionsResponse()),
  getProgramDependencies: unary(async () => new messages.GetProgramDependenciesResponse()),
  cancel: unary(async () => new Empty()),
});
