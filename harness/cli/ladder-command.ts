// `envladder ladder`: climb, watch, report. Composes the ladder with the reports, which do not know each other.
import type { Command } from 'commander';
import { summarise } from '../../reports/summarise.js';
import { EnvladderError } from '../contract/errors.js';
import type { ExitCode } from '../contract/exit-codes.js';
import { ownGitCommit } from '../ladder/git-commit.js';
import { watchInterrupts } from '../ladder/interrupts.js';
import { packageVersion } from '../ladder/package-root.js';
import { refuseIfUnfit } from '../ladder/preflight.js';
import { prepareLadder, requireBackend } from '../ladder/prepare-ladder.js';
import { resumeFolder } from '../ladder/resume-folder.js';
import { type LadderOutcome, runLadder } from '../ladder/run-ladder.js';
import { sealDeadSiblings } from '../ladder/seal-dead-siblings.js';
import { shownPath } from '../ladder/shown-path.js';
import { openLivePage } from './live-page.js';
import { addPlanOptions, type PlanOptions } from './plan-options.js';
import { createStatusView } from './show-status.js';
import { typedCommand } from './typed-command.js';

interface LadderFlags extends PlanOptions {
  readonly plan: string;
  readonly resume?: string;
  readonly json?: boolean;
  readonly serve?: string | true;
  readonly prometheus?: boolean;
}

const EXAMPLES = `
Examples:
  npm run ladder                                       climb 1,000 -> 7,000 envs with the default plan
  npm run ladder -- --plan smoke                       a few seconds, to see that everything works
  npm run ladder -- --tiers 100,1000 --seconds 10      two tiers of your own
  npm run ladder -- --kind cartpole --learner random   one kind, sampling only
  npm run ladder -- --module ./my-env.ts --kind my-env --tiers 100
  npm run ladder -- --serve                            with a live page; its address is printed
  npm run ladder -- --resume runs/ID                   go on training from that run's newest checkpoint

Ctrl-C once: checkpoint, drain, report, exit code 130. Twice: faster. Exit codes: docs/exit-codes.md.`;

/** Adds the command; `onExit` takes the exit code. */
export function addLadderCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = program.command('ladder').description('climb the tiers of a plan, train on all envs, write a report');
  command.option('--plan <name>', 'built-in plan (default, smoke, account) or a YAML file', 'default');
  addPlanOptions(command)
    .option('--out <dir>', 'run folder to create (default: runs/<id>)')
    .option('--resume <dir>', 'run or checkpoint folder to go on from')
    .option('--serve [port]', 'live page on 127.0.0.1, at a free port unless one is given (docs/live.md)')
    .option('--prometheus', 'serve /metrics on the same port, behind the same token')
    .option('--json', 'print the run record as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: LadderFlags) => onExit(await climb(flags)));
}

async function climb(flags: LadderFlags): Promise<ExitCode> {
  const cwd = process.cwd();
  const json = flags.json === true;
  const prepared = await prepareLadder({ plan: flags.plan, flags, out: flags.out, cwd });
  const resume = flags.resume === undefined ? null : resumeFolder(flags.resume, cwd);
  requireBackend(prepared);
  refuseIfUnfit(prepared.preflight);
  const view = createStatusView(process.stderr, json);
  const live = await openLivePage(flags, (line) => (json ? void process.stderr.write(`${line}\n`) : view.say(line)));
  for (const dir of await sealDeadSiblings(prepared.outDir))
    view.say(`${shownPath(dir, cwd)}: its supervisor died; its record now says so (npm run -s envladder -- report ${shownPath(dir, cwd)})`);
  const interrupts = watchInterrupts();
  try {
    const outcome = await runLadder({
      ...prepared,
      resume,
      command: typedCommand(process.argv.slice(2), prepared.read.plan),
      version: packageVersion(),
      gitCommit: ownGitCommit(),
      interrupts,
      ...(live === null ? {} : { observer: live }),
      onBegin: (dir, read) => {
        view.say(
          `run ${prepared.runId}, plan ${prepared.read.label}: ${prepared.read.plan.tiers.map((tier) => tier.label).join(' -> ')}; folder ${shownPath(dir, cwd)}`,
        );
        view.begin(read);
      },
      onNotice: (message) => view.say(message),
    });
    view.end();
    await live?.close();
    return await report(outcome, json, cwd);
  } finally {
    view.end();
    await live?.close();
    interrupts.dispose();
  }
}

/**
 * Renders the report and prints what a person reads first. A report that the disk refuses is a warning: the run is what its record says,
 * the exit code is the record's, and the report can be rendered from the record again.
 */
async function report({ record, dir }: LadderOutcome, json: boolean, cwd: string): Promise<ExitCode> {
  const shown = shownPath(dir, cwd);
  let rendered = false;
  try {
    // Loaded here: drawing brings a DOM with it that no other command should wait for.
    const { renderReport } = await import('../../reports/render-report.js');
    renderReport(dir);
    rendered = true;
  } catch (error) {
    if (!(error instanceof EnvladderError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
    process.stderr.write(
      `the report could not be written: ${(error as Error).message}\n  later: npm run -s envladder -- report ${shown}\n`,
    );
  }
  if (json) process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  else process.stdout.write(`${summarise(record)}\n\n${rendered ? `  report  ${shown}/report.html\n` : ''}  record  ${shown}/run.json\n`);
  return record.exit_code as ExitCode;
}
