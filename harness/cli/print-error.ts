// How an error ends a command: one clear block on stderr (what, where, the limit, what to do), or with --json one document on stdout.
// The stack is shown for bugs and with --verbose only: for everything else it says nothing a user could act on.
import { EnvladderError, exitCodeFor } from '../contract/errors.js';
import type { ExitCode } from '../contract/exit-codes.js';

export interface ErrorStyle {
  readonly json: boolean;
  readonly verbose: boolean;
}

const ISSUES = 'keep the run folder and report it with this text';

function causes(error: unknown): string[] {
  const lines: string[] = [];
  for (let cause = (error as { cause?: unknown }).cause, depth = 0; cause !== undefined && depth < 8; depth++) {
    lines.push(`caused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
    cause = (cause as { cause?: unknown }).cause;
  }
  return lines;
}

/** The block for stderr. */
export function describeError(error: unknown, verbose: boolean): string {
  const exitCode = exitCodeFor(error);
  if (error instanceof EnvladderError) {
    const lines = error.message.split('\n');
    const head = error.code === 'bad-plan' && lines.every((line) => /^(\S+:\d+|--\w+): /.test(line));
    const text = head
      ? [`envladder: ${lines.length} problem${lines.length === 1 ? '' : 's'} in the plan`, ...lines]
      : [`envladder: ${lines[0] ?? ''}`, ...lines.slice(1)];
    return [...text, `(${error.code}, exit code ${exitCode})`, ...(verbose ? [error.stack ?? '', ...causes(error)] : [])].join('\n');
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [`envladder: this is a bug: ${ISSUES}`, stack, ...causes(error), `(exit code ${exitCode})`].join('\n');
}

/** Prints it and returns the exit code. */
export function printError(error: unknown, style: ErrorStyle): ExitCode {
  if (style.json) {
    const code = error instanceof EnvladderError ? error.code : 'bug';
    process.stdout.write(
      `${JSON.stringify({ error: { code, message: error instanceof Error ? error.message : String(error) } }, null, 2)}\n`,
    );
    if (!(error instanceof EnvladderError) || style.verbose) process.stderr.write(`${describeError(error, style.verbose)}\n`);
  } else {
    process.stderr.write(`${describeError(error, style.verbose)}\n`);
  }
  return exitCodeFor(error);
}
