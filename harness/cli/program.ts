// The table of contents of the command line.
import { Command } from 'commander';
import type { ExitCode } from '../contract/exit-codes.js';
import { packageVersion } from '../ladder/package-root.js';
import { addBenchCommand } from './bench-command.js';
import { addChaosCommand } from './chaos-command.js';
import { addClaimsCommand } from './claims-command.js';
import { addCompareCommand } from './compare-command.js';
import { addCtlCommand } from './ctl-command.js';
import { addDoctorCommand } from './doctor-command.js';
import { addEnvCommand } from './env-command.js';
import { addHistoryCommand } from './history-command.js';
import { addLadderCommand } from './ladder-command.js';
import { addPlanCommand } from './plan-command.js';
import { addReportCommand } from './report-command.js';
import { addSoakCommand } from './soak-command.js';

const INTRO = `Can this machine keep thousands of reinforcement-learning environments breathing at once, while a learner trains on all of them?
envladder climbs tiers of environments, trains PPO on them, and writes a report that says what held.`;

const START = `
Start here:
  envladder doctor                 does this machine have what the default plan needs?
  envladder ladder --plan smoke    a first run, a few seconds
  envladder ladder                 the default climb: 1,000 -> 3,000 -> 5,000 -> 7,000 envs
  envladder COMMAND --help         options and examples of a command

Exit codes: 0 good, 1 bug, 2 usage or config, 3 pre-flight refused, 4 run invalid, 5 objective missed, 6 regression,
130 interrupted after a clean stop.`;

/** Builds the program. `onExit` takes the exit code of the command that ran. */
export function buildProgram(onExit: (code: ExitCode) => void): Command {
  const program = new Command('envladder');
  program
    .description(INTRO)
    .version(packageVersion(), '-V, --version', 'print the version')
    .option('--verbose', 'show causes and stacks of errors')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', START)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  addLadderCommand(program, onExit);
  addPlanCommand(program, onExit);
  addDoctorCommand(program, onExit);
  addEnvCommand(program, onExit);
  addReportCommand(program, onExit);
  addCompareCommand(program, onExit);
  addHistoryCommand(program, onExit);
  addCtlCommand(program, onExit);
  addBenchCommand(program, onExit);
  addChaosCommand(program, onExit);
  addClaimsCommand(program, onExit);
  addSoakCommand(program, onExit);
  return program;
}
