// One Pulumi stack in a folder of its own: a file backend, a passphrase, the config file beside it; nothing of the user's Pulumi is touched
// and nothing is written into the repository. The face of the CLI for the rig tests.
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { engineParts } from './engine-parts.mjs';
import { workFolder } from './machine.js';
import { type Finished, type RunOptions, runProcess } from './run-process.js';

export const REPOSITORY = join(import.meta.dirname, '..', '..');
const STACK = 'test';
export const PASSPHRASE = 'rig-test-passphrase-4711';

export interface Stack {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs the CLI with the stack, never asking. */
  run(words: readonly string[], options?: RunOptions): Promise<Finished>;
  setConfig(values: Readonly<Record<string, string>>, secrets?: Readonly<Record<string, string>>): Promise<void>;
  removeConfig(...names: string[]): Promise<void>;
}

/** A Pulumi home with the CLI and the plugins, official or stand-in, where the CLI and the npx wrapper look for them. Once per run. */
function pulumiHome(): string {
  const home = join(workFolder(), 'pulumi-home');
  if (existsSync(home)) return home;
  const cli = process.env['RIG_TEST_PULUMI'] ?? '';
  const { version, plugins } = engineParts(cli);
  const bin = join(home, 'versions', version, 'bin', 'pulumi');
  mkdirSync(dirname(bin), { recursive: true });
  // A link of the file itself: through a symbolic link the CLI would look for its plugins where the link points.
  try {
    linkSync(cli, bin);
  } catch {
    cpSync(cli, bin);
  }
  for (const { target, official, standIn } of plugins) {
    const path = join(home, target);
    mkdirSync(dirname(path), { recursive: true });
    if (official) symlinkSync(official, path);
    else writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' "$@"\n`);
    if (!official) chmodSync(path, 0o755);
  }
  return home;
}

function environment(folder: string): NodeJS.ProcessEnv {
  const { SSH_AUTH_SOCK: _agent, ...inherited } = process.env;
  return {
    ...inherited,
    PATH: `${join(REPOSITORY, 'node_modules', '.bin')}:${process.env['PATH']}`,
    PULUMI_HOME: pulumiHome(),
    PULUMI_BACKEND_URL: `file://${join(folder, 'state')}`,
    PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    PULUMI_SKIP_CONFIRMATIONS: 'true',
    PULUMI_STACK: STACK,
  };
}

/** The npx wrapper is a process of Node's in front of the CLI; a test that kills must hit the CLI itself. */
const cliPath = (env: NodeJS.ProcessEnv): string => {
  const { version } = engineParts(process.env['RIG_TEST_PULUMI'] ?? '');
  return join(env['PULUMI_HOME'] ?? '', 'versions', version, 'bin', 'pulumi');
};

function stackIn(folder: string, project: string): Stack {
  const env = environment(folder);
  const configFile = join(folder, 'config.yaml');
  const cli = cliPath(env);
  const run: Stack['run'] = (words, options = {}) =>
    runProcess(cli, ['--cwd', project, '--non-interactive', '--color', 'never', ...words], { ...options, env: { ...env, ...options.env } });
  const runConfig = async (words: readonly string[], input?: string): Promise<void> => {
    const done = await run(['config', ...words, '--config-file', configFile], input === undefined ? {} : { input });
    if (done.code !== 0) throw new Error(`pulumi config ${words[0]} ended with ${done.code}: ${done.stderr}`);
  };
  return {
    folder,
    env,
    run: (words, options) => run(withConfig(words, configFile), options),
    setConfig: async (values, secrets = {}) => {
      const plain = Object.entries(values).flatMap(([name, value]) => ['--plaintext', `${name}=${value}`]);
      if (plain.length > 0) await runConfig(['set-all', ...plain]);
      // One at a time and by stdin, as the README tells people to: an argument is readable in the process list.
      for (const [name, value] of Object.entries(secrets)) await runConfig(['set', '--secret', name], value);
    },
    removeConfig: async (...names) => runConfig(['rm-all', ...names]),
  };
}

const READS_CONFIG = ['up', 'preview', 'destroy', 'refresh', 'config'];
function withConfig(words: readonly string[], file: string): readonly string[] {
  return READS_CONFIG.includes(words[0] ?? '') ? [...words, '--config-file', file] : words;
}

/** A new, empty stack. `project` is the folder with Pulumi.yaml. */
export async function makeStack(project = REPOSITORY): Promise<Stack> {
  const folder = mkdtempSync(join(workFolder(), 'stack-'));
  mkdirSync(join(folder, 'state'));
  // `stack init` writes the stack's config file beside Pulumi.yaml and cannot be told otherwise: it gets a copy of that file.
  const beside = join(folder, 'init');
  mkdirSync(beside);
  cpSync(join(project, 'Pulumi.yaml'), join(beside, 'Pulumi.yaml'));
  const stack = stackIn(folder, project);
  const made = await runProcess(cliPath(stack.env), ['--cwd', beside, '--non-interactive', 'stack', 'init', STACK], { env: stack.env });
  if (made.code !== 0) throw new Error(`pulumi stack init ended with ${made.code}: ${made.stderr}`);
  renameSync(join(beside, `Pulumi.${STACK}.yaml`), join(folder, 'config.yaml'));
  return stack;
}

/** The stack that lies in a folder. */
export const openStack = (folder: string, project = REPOSITORY): Stack => stackIn(folder, project);

/** A copy of a stack as it is now: what a case does to it, the next case does not see. */
export function copyStack(source: Stack, folder = mkdtempSync(join(workFolder(), 'stack-'))): Stack {
  cpSync(source.folder, folder, { recursive: true });
  return openStack(folder);
}

/** The figures of the last `Resources:` block that the CLI printed, e.g. {created: 3, unchanged: 4}. */
export function resourceCounts(stdout: string): Record<string, number> {
  const block = stdout.slice(stdout.lastIndexOf('Resources:'));
  const found = [...block.matchAll(/^\s+(?:[+~-]+\s*)?(\d+) (created|updated|deleted|replaced|unchanged|errored|to \w+)/gm)];
  return Object.fromEntries(found.map(([, count, word]) => [word, Number(count)]));
}

export const configText = (stack: Stack): string => readFileSync(join(stack.folder, 'config.yaml'), 'utf8');
