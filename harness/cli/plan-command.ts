// `envladder plan`: what a plan resolves to and what it will need. Starts nothing.
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { describePlan } from '../ladder/describe-plan.js';
import { prepareLadder } from '../ladder/prepare-ladder.js';
import { addPlanOptions, type PlanOptions } from './plan-options.js';

const EXAMPLES = `
Examples:
  npm run -s envladder -- plan                            the default plan
  npm run -s envladder -- plan account                    what six days with 7,000 image envs need
  npm run -s envladder -- plan ./my-plan.yaml --workers 8`;

/** Adds the command. */
export function addPlanCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = program
    .command('plan')
    .argument('[plan]', 'built-in plan or YAML file', 'default')
    .description('print the resolved plan and what it will need');
  addPlanOptions(command)
    .option('--json', 'print plan and needs as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (plan: string, flags: PlanOptions & { json?: boolean }) => {
      const prepared = await prepareLadder({ plan, flags, out: undefined, cwd: process.cwd() });
      const text =
        flags.json === true ? JSON.stringify({ plan: prepared.read.plan, needs: prepared.needs }, null, 2) : describePlan(prepared);
      process.stdout.write(`${text}\n`);
      onExit(EXIT.good);
    });
}
