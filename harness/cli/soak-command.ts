// `envladder soak` (`npm run soak`): the long run with faults. No logic here: options in, lines and a report out.
import type { Command } from 'commander';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { watchInterrupts } from '../ladder/interrupts.js';

interface SoakFlags {
  readonly plan?: string;
  readonly hours?: string;
  readonly every: string;
  readonly seed: string;
  readonly out: string;
  readonly resume?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  npm run soak -- --hours 2                     two hours of a small training rig, a fault a minute
  npm run soak -- --plan account --out soaks/account   the account's six days
  npm run soak -- --plan account --out soaks/account --resume   go on after a reboot
  npm run soak -- --hours 1 --every 0           without faults

Exit code 0: nothing was killed without a reason, no process grew, every run is valid; 5 otherwise; 130: ended by Ctrl-C (--resume goes on).`;

/** Adds the command; `onExit` takes the exit code. */
export function addSoakCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('soak')
    .description('a long ladder with faults injected from outside; counts false kills, follows memory and fds')
    .option('--plan <name>', 'built-in plan or YAML file')
    .option('--hours <n>', 'a small training rig for so long, instead of a plan')
    .option('--every <seconds>', 'seconds between two faults (0: none)', '60')
    .option('--seed <n>', 'what faults and envs follow from', '1')
    .option('--out <dir>', 'folder of the soak: runs, soak.json, soak.md', 'soak')
    .option('--resume', 'go on with the soak in --out')
    .option('--json', 'print the report as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: SoakFlags) => onExit(await run(flags)));
}

function numberOf(name: string, text: string, least: number, most: number, whole = false): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isSafeInteger(value))) return value;
  throw new EnvladderError('bad-usage', `${name} ${text}: must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
}

async function run(flags: SoakFlags): Promise<ExitCode> {
  if (flags.resume !== true && (flags.plan === undefined) === (flags.hours === undefined)) {
    throw new EnvladderError(
      'bad-usage',
      'soak needs exactly one of --plan and --hours (or --resume with --out): npm run -s soak -- --hours 2',
    );
  }
  const { runSoak } = await import('../chaos/soak/run-soak.js');
  const { renderSoak } = await import('../chaos/soak/soak-report.js');
  const json = flags.json === true;
  const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);
  const interrupts = watchInterrupts();
  try {
    const report = await runSoak({
      plan: flags.plan,
      hours: flags.hours === undefined ? undefined : numberOf('--hours', flags.hours, 0.001, 744),
      out: flags.out,
      resume: flags.resume === true,
      everySeconds: numberOf('--every', flags.every, 0, 86_400),
      seed: numberOf('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER, true),
      interrupts,
      say,
    });
    if (json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else for (const line of renderSoak(report)) say(line);
    if (interrupts.count() > 0) return EXIT.interrupted;
    return report.problems.length > 0 ? EXIT.slo : EXIT.good;
  } finally {
    interrupts.dispose();
  }
}
