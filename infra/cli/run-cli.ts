// The frame of the rig's commands: an operating error is one line on stderr and its own exit code, anything else is a bug with its stack.
import { EnvladderError, exitCodeFor } from '../../harness/contract/errors.js';
import { EXIT, type ExitCode } from '../../harness/contract/exit-codes.js';

/** Errors of node:util's parseArgs carry such codes. */
const isUsage = (error: unknown): boolean => /^ERR_PARSE_ARGS_/.test((error as { code?: string } | null)?.code ?? '');

/** Runs `command` and sets the exit code: what it returns, or that of its error. */
export async function runCli(help: string, command: () => number | Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    const usage = isUsage(error);
    if (usage || error instanceof EnvladderError) process.stderr.write(`${(error as Error).message}\n${usage ? `\n${help}` : ''}`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    const code: ExitCode = usage ? EXIT.usage : exitCodeFor(error);
    process.exitCode = code;
  }
}
