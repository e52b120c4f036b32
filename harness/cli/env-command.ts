// `envladder env`: the group of commands about env kinds.
import type { Command } from 'commander';
import type { ExitCode } from '../contract/exit-codes.js';
import { addEnvCheckCommand } from './env-check-command.js';
import { addEnvListCommand } from './env-list-command.js';

/** Adds the group. */
export function addEnvCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const group = program.command('env').description('list env kinds, or check one against the contract');
  addEnvListCommand(group, onExit);
  addEnvCheckCommand(group, onExit);
}
