// What the Pulumi CLI says of a stack, for the doctor and the ladder: its config with secrets (kept in memory, never printed) and the output
// `rig` of the last `pulumi up`. Reads only. The CLI is the one on PATH, else the wrapper that npm installed.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { EnvladderError } from '../harness/contract/errors.js';
import { type RigOutput, rigOutputSchema } from '../harness/contract/rig-output.js';
import { parseRigConfig, type RigSettings } from './config.js';

export interface StackOptions {
  /** The CLI's own choice when left out (`pulumi stack select`, PULUMI_STACK). */
  readonly stack?: string | undefined;
  readonly configFile?: string | undefined;
  readonly root?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RigStack {
  readonly settings: RigSettings;
  /** Null before the first `pulumi up`. */
  readonly output: RigOutput | null;
}

const configSchema = z.record(z.string(), z.object({ value: z.string().default(''), secret: z.boolean().default(false) }));

function pulumi(words: readonly string[], { root = resolve(import.meta.dirname, '..'), env = process.env, stack }: StackOptions): string {
  const path = `${env['PATH'] ?? ''}:${join(root, 'node_modules', '.bin')}`;
  const args = ['--non-interactive', '--color', 'never', ...words, ...(stack === undefined ? [] : ['--stack', stack])];
  const run = spawnSync('pulumi', args, {
    cwd: root,
    env: { ...env, PATH: path },
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    timeout: 120_000,
  });
  if (run.status === 0) return run.stdout;
  const said = (run.stderr ?? '').trim().split('\n').slice(-3).join('\n');
  throw new EnvladderError(
    'bad-usage',
    `pulumi ${words.slice(0, 2).join(' ')} ${run.error ? `cannot be run (${run.error.message})` : `ended with ${run.status ?? run.signal}`}${said === '' ? '' : `: ${said}`}`,
    { cause: run.error },
  );
}

/** Reads config and output. Throws `bad-usage` when the CLI or the stack is not there, `bad-plan` when the config is wrong. */
export function readStack(options: StackOptions): RigStack {
  const file = options.configFile === undefined ? [] : ['--config-file', resolve(options.configFile)];
  const config = configSchema.parse(JSON.parse(pulumi(['config', '--json', '--show-secrets', ...file], options)));
  const settings = parseRigConfig(config);
  const outputs = JSON.parse(pulumi(['stack', 'output', '--json'], options)) as { rig?: unknown };
  if (outputs.rig === undefined) return { settings, output: null };
  const output = rigOutputSchema.safeParse(outputs.rig);
  if (output.success) return { settings, output: output.data };
  throw new EnvladderError('bad-usage', "the stack's output `rig` is of another version of envladder: run pulumi up with this one first");
}
