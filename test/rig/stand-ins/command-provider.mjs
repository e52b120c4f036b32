// STAND-IN for pulumi-resource-command, the provider behind @pulumi/command. The official one is not in the package registries; the rig
// tests use it where it is installed and this one elsewhere, and say which. It follows v1.2.1 in what the program depends on: any changed
// input is an update, `triggers` replace, a changed host alone copies nothing, there is no read, a failed create leaves no state, secret
// inputs make secret outputs. docs/rig-tests.md lists what it copies and what it cannot show.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connectClient, Empty, engineAddress, proto, Struct, servePlugin, unary } from './grpc-plugin.mjs';
import { canonical, hasSecret, reveal, wrapSecret } from './secret-values.mjs';
import { copyPath, copyText, dial, runCommand } from './ssh.mjs';

const { ResourceProviderService } = proto('provider_grpc_pb');
const messages = proto('provider_pb');
const { PluginInfo } = proto('plugin_pb');
const { EngineClient } = proto('engine_grpc_pb');
const { LogRequest, LogSeverity } = proto('engine_pb');

const VERSION = '1.2.1';
const INPUTS = {
  'command:local:Command': [
    'create',
    'update',
    'delete',
    'dir',
    'environment',
    'interpreter',
    'logging',
    'stdin',
    'triggers',
    'addPreviousOutputInEnv',
  ],
  'command:remote:Command': [
    'connection',
    'create',
    'update',
    'delete',
    'environment',
    'logging',
    'stdin',
    'triggers',
    'addPreviousOutputInEnv',
  ],
  'command:remote:CopyToRemote': ['connection', 'remotePath', 'source', 'triggers'],
};
const engine = connectClient(EngineClient, engineAddress());

const typeOf = (urn) => urn.split('::')[2].split('$').pop();

function logLine(urn, message) {
  const request = new LogRequest();
  request.setSeverity(LogSeverity.INFO);
  request.setMessage(message);
  request.setUrn(urn);
  engine.log(request, () => {});
}

/** How the official provider words a failure: the whole command, then everything it printed. That is why neither may hold a secret. */
function failureText(status, command, result) {
  return `${status}: running ${JSON.stringify(command)}:\n${result.stdout}${result.stderr}`;
}

/** Ctrl-C at the CLI: dialling ends, commands that run are waited for. */
const cancelled = new AbortController();

async function withClient(connection, timeoutS, work) {
  // A timer of our own: what AbortSignal.any makes of AbortSignal.timeout may be collected before it fires (seen on Node 20: an `up` that never ended).
  const bound = new AbortController();
  const end = () => bound.abort(cancelled.signal.reason);
  if (cancelled.signal.aborted) end();
  cancelled.signal.addEventListener('abort', end, { once: true });
  const timer = timeoutS > 0 ? setTimeout(() => bound.abort(new Error(`timed out after ${timeoutS} s`)), timeoutS * 1000) : undefined;
  let client;
  try {
    client = await dial(connection, bound.signal);
  } finally {
    clearTimeout(timer);
    cancelled.signal.removeEventListener('abort', end);
  }
  try {
    return await work(client);
  } finally {
    client.removeAllListeners('close');
    client.end();
  }
}

async function runRemote(urn, props, command, timeoutS) {
  if (Object.keys(props.environment ?? {}).length > 0) {
    throw new Error("environment: sshd's AcceptEnv on Debian and Ubuntu lets only LANG and LC_* pass, so this variable would be refused");
  }
  const logging = props.logging ?? 'stdoutAndStderr';
  const shown = (line, stream) => (logging === 'stdoutAndStderr' || logging === stream) && line !== '' && logLine(urn, line);
  const result = await withClient(props.connection, timeoutS, (client) => runCommand(client, command, props.stdin, shown));
  if (result.signal) throw new Error(failureText(`Process exited with signal ${result.signal}`, command, result));
  if (result.code !== 0) throw new Error(failureText(`Process exited with status ${result.code}`, command, result));
  return result;
}

function runLocal(props, command) {
  const [shell, ...options] = props.interpreter ?? ['/bin/sh', '-c'];
  const env = { ...process.env, ...props.environment };
  const result = spawnSync(shell, [...options, command], { cwd: props.dir, env, input: props.stdin ?? '', encoding: 'utf8' });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(failureText(`exit status ${result.status}`, command, result));
  return result;
}

async function copy(props, timeoutS) {
  const { path, text } = props.source;
  await withClient(props.connection, timeoutS, (client) =>
    path ? copyPath(client, path, props.remotePath) : copyText(client, text ?? '', props.remotePath),
  );
}

/** Runs `command` and returns the resource's state: its inputs and, secret where any input is, what was printed. */
async function runFor(urn, inputs, command, timeoutS) {
  const props = reveal(inputs);
  const local = typeOf(urn) === 'command:local:Command';
  const printed =
    command === undefined ? { stdout: '', stderr: '' } : local ? runLocal(props, command) : await runRemote(urn, props, command, timeoutS);
  const guard = hasSecret(inputs) ? wrapSecret : (value) => value;
  return { ...inputs, stdout: guard(printed.stdout.trimEnd()), stderr: guard(printed.stderr.trimEnd()) };
}

async function create(request) {
  const urn = request.getUrn();
  const inputs = request.getProperties().toJavaScript();
  let state = inputs;
  if (typeOf(urn) === 'command:remote:CopyToRemote') await copy(reveal(inputs), request.getTimeout());
  else state = await runFor(urn, inputs, reveal(inputs.create), request.getTimeout());
  const response = new messages.CreateResponse();
  response.setId(randomBytes(16).toString('hex'));
  response.setProperties(Struct.fromJavaScript(state));
  return response;
}

async function update(request) {
  const urn = request.getUrn();
  const olds = request.getOlds().toJavaScript();
  const news = request.getNews().toJavaScript();
  let state = news;
  if (typeOf(urn) === 'command:remote:CopyToRemote') {
    const same = ['source', 'remotePath'].every((name) => canonical(reveal(olds[name])) === canonical(reveal(news[name])));
    if (!same) await copy(reveal(news), request.getTimeout());
  } else {
    state = await runFor(urn, news, reveal(news.update ?? news.create), request.getTimeout());
  }
  const response = new messages.UpdateResponse();
  response.setProperties(Struct.fromJavaScript(state));
  return response;
}

async function remove(request) {
  const state = request.getProperties().toJavaScript();
  const command = reveal(state.delete);
  if (command !== undefined) await runFor(request.getUrn(), state, command, request.getTimeout());
  return new Empty();
}

async function diff(request) {
  const olds = request.getOlds().toJavaScript();
  const news = request.getNews().toJavaScript();
  const changed = INPUTS[typeOf(request.getUrn())].filter((name) => canonical(reveal(olds[name])) !== canonical(reveal(news[name])));
  const response = new messages.DiffResponse();
  const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
  response.setChanges(changed.length === 0 ? DIFF_NONE : DIFF_SOME);
  response.setDiffsList(changed);
  response.setReplacesList(changed.filter((name) => name === 'triggers'));
  return response;
}

async function check(request) {
  const type = typeOf(request.getUrn());
  const inputs = request.getNews().toJavaScript();
  const response = new messages.CheckResponse();
  response.setInputs(Struct.fromJavaScript(inputs));
  // The engine puts keys of its own (they begin with __) among the inputs.
  for (const name of Object.keys(inputs)) {
    if (name.startsWith('__') || INPUTS[type]?.includes(name)) continue;
    const failure = new messages.CheckFailure();
    failure.setProperty(name);
    failure.setReason(`the stand-in provider knows no ${name} on ${type}`);
    response.addFailures(failure);
  }
  return response;
}

async function configure() {
  const response = new messages.ConfigureResponse();
  response.setAcceptsecrets(true);
  return response;
}

async function read(request) {
  const response = new messages.ReadResponse();
  response.setId(request.getId());
  response.setProperties(request.getProperties());
  response.setInputs(request.getInputs());
  return response;
}

servePlugin(ResourceProviderService, {
  getPluginInfo: unary(async () => {
    const info = new PluginInfo();
    info.setVersion(VERSION);
    return info;
  }),
  getSchema: unary(async () => {
    const response = new messages.GetSchemaResponse();
    response.setSchema('{}');
    return response;
  }),
  checkConfig: unary(async (request) => {
    const response = new messages.CheckResponse();
    response.setInputs(request.getNews());
    return response;
  }),
  diffConfig: unary(async () => new messages.DiffResponse()),
  configure: unary(configure),
  check: unary(check),
  diff: unary(diff),
  create: unary(create),
  read: unary(read),
  update: unary(update),
  delete: unary(remove),
  cancel: unary(async () => {
    cancelled.abort();
    return new Empty();
  }),
});
