// `envladder env list`: every env kind that a plan may name.
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { listEnvKinds } from '../ladder/env-commands.js';

/** Adds the command. */
export function addEnvListCommand(group: Command, onExit: (code: ExitCode) => void): void {
  group
    .command('list')
    .description('list the env kinds that a plan may name')
    .option('--module <file>', 'also those of your own module')
    .option('--json', 'print them as one JSON document')
    .action(async (flags: { module?: string; json?: boolean }) => {
      const kinds = await listEnvKinds(flags.module === undefined ? [] : [flags.module], process.cwd());
      process.stdout.write(`${flags.json === true ? JSON.stringify({ kinds: kinds.data }, null, 2) : kinds.text}\n`);
      onExit(EXIT.good);
    });
}
