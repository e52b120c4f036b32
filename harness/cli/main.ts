#!/usr/bin/env node
// Entry of the envladder command: parses, runs one command, turns whatever it threw into one clear block and an exit code.
import { CommanderError } from 'commander';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { printError } from './print-error.js';
import { buildProgram } from './program.js';

const words = process.argv.slice(2);
const style = { json: words.includes('--json'), verbose: words.includes('--verbose') };

/** Node would open its inspector, a debugger that listens on a port, unless somebody else listens to the signal. */
process.on('SIGUSR1', () => undefined);

/** A reader that went away (`envladder ladder | head`) is no reason to lose the run. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** What commander refuses, in our words; help and version are not errors. */
function usageError(error: CommanderError): EnvladderError | null {
  if (error.exitCode === 0) return null;
  const message = error.message.replace(/^error: /, '');
  const known = message === '(outputHelp)' ? 'a command is needed' : message;
  return new EnvladderError('bad-usage', `${known}\nsee: npm run -s envladder -- --help`);
}

async function main(): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.good;
  const program = buildProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return printError(error, style);
    const usage = usageError(error);
    return usage === null ? EXIT.good : printError(usage, style);
  }
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => (stream.writable ? stream.write('', () => resolve()) : resolve()));

const exitCode = await main();
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit(exitCode);
