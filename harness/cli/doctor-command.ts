// `envladder doctor`: the pre-flight of a plan on its own. Exit code 3 when the machine cannot run it.
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { examine } from '../ladder/doctor.js';
import { prepareLadder } from '../ladder/prepare-ladder.js';
import { addPlanOptions, type PlanOptions } from './plan-options.js';

const EXAMPLES = `
Examples:
  npm run -s envladder -- doctor                   can this machine run the default plan?
  npm run -s envladder -- doctor --plan account    can it run the six days?`;

/** Adds the command. */
export function addDoctorCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = program.command('doctor').description('check this machine against a plan: needed, found, what to do');
  command.option('--plan <name>', 'built-in plan or YAML file', 'default').option('--out <dir>', 'where the run folder would be');
  addPlanOptions(command)
    .option('--json', 'print the checks as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: PlanOptions & { plan: string; json?: boolean }) => {
      const prepared = await prepareLadder({ plan: flags.plan, flags, out: flags.out, cwd: process.cwd() });
      const fit = prepared.preflight.every((row) => row.ok);
      process.stdout.write(
        `${flags.json === true ? JSON.stringify({ ok: fit, checks: prepared.preflight }, null, 2) : examine(prepared)}\n`,
      );
      onExit(fit ? EXIT.good : EXIT.preflight);
    });
}
