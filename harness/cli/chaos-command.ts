// `envladder chaos`: breaks rigs on purpose and says what held. No logic here: options in, a table and a report out. The rows are loaded when
// they are asked for: they bring a Redis client and half of the harness, which no other command should wait for.
import { join } from 'node:path';
import type { Command } from 'commander';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { watchInterrupts } from '../ladder/interrupts.js';
import { makeFolder } from '../ladder/make-folder.js';
import { refuseEmpty } from '../ladder/refuse-empty.js';
import { shownPath } from '../ladder/shown-path.js';

interface ChaosFlags {
  readonly only?: string;
  readonly list?: boolean;
  readonly pairs?: string;
  readonly storm?: string;
  readonly rate?: string;
  readonly soak?: string;
  readonly every?: string;
  readonly seed?: string;
  readonly patience: string;
  readonly window: string;
  readonly full?: boolean;
  readonly ownMachine?: boolean;
  readonly out: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  npm run -s chaos                                        the whole fault matrix, one fault at a time
  npm run -s chaos -- --list                              what the rows are
  npm run -s chaos -- --only 1,6,9                        three rows of it
  npm run -s chaos -- --only 1 --pairs 20 --seed 7        then twenty pairs of faults, chosen by the seed
  npm run -s chaos -- --only none --storm 10 --rate 1     one fault a second for ten minutes
  npm run -s chaos -- --soak 2 --every 30                 the matrix again and again for two hours

Exit code 0: every row passed or was skipped with its reason; 5: one failed; 130: ended by Ctrl-C. docs/chaos.md has the rows.`;

/** Adds the command; `onExit` takes the exit code. */
export function addChaosCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('chaos')
    .description('break a running rig on purpose, row by row, and check what must hold')
    .option('--only <rows>', 'row numbers, comma separated; "none" for pairs or storm alone')
    .option('--list', 'print the rows and end')
    .option('--pairs <n>', 'then so many random pairs of faults')
    .option('--storm <minutes>', 'then a storm of faults')
    .option('--rate <n>', 'faults a second in the storm (default: 1)')
    .option('--soak <hours>', 'repeat the rows for so long')
    .option('--every <seconds>', 'pause between two rows of a soak (default: 30)')
    .option('--seed <n>', 'what every random choice follows from (default: from the clock, printed)')
    .option('--patience <factor>', 'multiplies recovery limits and watchdogs, for a machine that is busy with other things', '1')
    .option('--window <seconds>', 'length of the rate windows before and after each fault', '2')
    .option('--full', 'outages as long as the fault matrix asks for: Redis is gone for five minutes instead of one')
    .option('--own-machine', 'this machine is a throw-away one: rows may set its clock (47) and fill its memory (14)')
    .option('--out <dir>', 'folder of chaos.json and chaos.md', 'chaos')
    .option('--json', 'print the report as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: ChaosFlags) => onExit(await run(flags)));
}

function numberOf(name: string, text: string, least: number, most: number, whole = false): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isSafeInteger(value))) return value;
  throw new EnvladderError('bad-usage', `${name} ${text}: must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
}

function rowsOf(only: string | undefined): number[] | null {
  if (only === undefined) return null;
  if (only === 'none') return [];
  return only.split(',').map((part) => numberOf('--only', part.trim(), 1, 999, true));
}

/** Throws `bad-usage` for options that would be without effect, or leave nothing to do. */
function refuseIdle({ only, pairs, storm, rate, soak, every }: ChaosFlags): void {
  const refuse = (message: string): never => {
    throw new EnvladderError('bad-usage', message);
  };
  if (rate !== undefined && storm === undefined) refuse(`--rate ${rate}: is about a storm; give --storm MINUTES too`);
  if (every !== undefined && soak === undefined) refuse(`--every ${every}: is about a soak; give --soak HOURS too`);
  if (only === 'none' && soak !== undefined) refuse('--only none: a soak repeats rows; leave --only away or name some');
  if (only === 'none' && storm === undefined && Number(pairs ?? 0) === 0)
    refuse('--only none: nothing is left to do; give --pairs or --storm too');
}

async function run(flags: ChaosFlags): Promise<ExitCode> {
  if (flags.list === true) {
    const { ALL_ROWS } = await import('../chaos/all-rows.js');
    for (const { row, fault, outcome } of ALL_ROWS) process.stdout.write(`${String(row).padStart(3)}  ${fault}: ${outcome}\n`);
    return EXIT.good;
  }
  const { renderHeadings, renderResult, renderStormLine, renderSummary } = await import('../chaos/chaos-table.js');
  const { writeChaosReport } = await import('../chaos/chaos-report.js');
  const { chooseRows, runChaos } = await import('../chaos/run-chaos.js');
  const json = flags.json === true;
  const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);
  const seed = flags.seed === undefined ? Date.now() % 1_000_000 : numberOf('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER - 1e9, true);
  const options = {
    only: rowsOf(flags.only),
    pairs: flags.pairs === undefined ? 0 : numberOf('--pairs', flags.pairs, 0, 100_000, true),
    storm:
      flags.storm === undefined
        ? null
        : { minutes: numberOf('--storm', flags.storm, 0.1, 10_080), rate: numberOf('--rate', flags.rate ?? '1', 0.01, 100) },
    soak:
      flags.soak === undefined
        ? null
        : { hours: numberOf('--soak', flags.soak, 0.001, 10_000), everySeconds: numberOf('--every', flags.every ?? '30', 0, 86_400) },
    seed,
    patience: numberOf('--patience', flags.patience, 0.1, 100),
    windowSeconds: numberOf('--window', flags.window, 0.2, 600),
    full: flags.full === true,
    ownMachine: flags.ownMachine === true,
  };
  chooseRows(options.only);
  refuseIdle(flags);
  refuseEmpty('--out', flags.out, 'folder', "give the report's folder, or leave --out away for chaos");
  makeFolder(flags.out);
  const interrupts = watchInterrupts();
  try {
    say(`seed ${seed}`);
    for (const line of renderHeadings()) say(line);
    const report = await runChaos({
      ...options,
      interrupts,
      say: (line) => say(`    ${line}`),
      onResult: (result) => say(renderResult(result)),
      onPair: (pair) => say(renderResult({ ...pair, row: pair.rows.join('+'), fault: `pair, ${pair.apart_ms} ms apart` })),
    });
    if (report.storm !== null) say(renderStormLine(report.storm));
    writeChaosReport(flags.out, report);
    if (json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else for (const line of renderSummary(report)) say(line);
    say(`report ${shownPath(join(flags.out, 'chaos.md'), process.cwd())}`);
    if (report.summary.fail > 0) return EXIT.slo;
    return report.summary.interrupted ? EXIT.interrupted : EXIT.good;
  } finally {
    interrupts.dispose();
  }
}
