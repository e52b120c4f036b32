// Runs a script of the rig with its state, locks and markers in a folder of the test, and reads its answer.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

export const SCRIPTS = resolve(import.meta.dirname, '../../infra/scripts');
const WATCHDOG_MS = 120_000;

export interface Answer {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of stdout; empty when the script could not answer. */
  readonly json: Readonly<Record<string, unknown>>;
}

export function runScript(script: string, words: readonly string[], options: { readonly state: string; readonly input?: string }): Answer {
  const { status, signal, stdout, stderr, error } = spawnSync('bash', [script, ...words], {
    encoding: 'utf8',
    input: options.input ?? '',
    timeout: WATCHDOG_MS,
    env: {
      PATH: process.env['PATH'],
      ENVLADDER_RIG_STATE: options.state,
      ENVLADDER_RIG_LOCKS: join(options.state, '../locks'),
      ENVLADDER_RIG_RUN: join(options.state, '../run'),
    },
  });
  // A script that ends before it has read its input (usage errors, a revert) is no failure to run it.
  if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  const line = stdout.trim().split('\n').at(-1) ?? '';
  return { code: status, signal, stdout, stderr, json: line === '' ? {} : (JSON.parse(line) as Record<string, unknown>) };
}
