// `envladder claims`: the account's claims as experiments on this machine. No logic here: options in, rules printed, measured, judged, rendered.
import { join } from 'node:path';
import type { Command } from 'commander';
import { judgeClaims } from '../../reports/claims/judge-claims.js';
import { readClaims } from '../../reports/claims/read-claims.js';
import { renderClaimsTerminal } from '../../reports/claims/render-terminal.js';
import { createLoadMonitor } from '../bench/cpu-load.js';
import { readMachineFacts } from '../bench/machine-facts.js';
import { ALL_CLAIMS } from '../claims/all-claims.js';
import { chooseClaims } from '../claims/choose-claims.js';
import { runClaims } from '../claims/run-claims.js';
import type { ClaimsRecord } from '../contract/claims-record.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { watchInterrupts } from '../ladder/interrupts.js';
import { makeFolder } from '../ladder/make-folder.js';
import { packageVersion } from '../ladder/package-root.js';
import { refuseEmpty } from '../ladder/refuse-empty.js';
import { shownPath } from '../ladder/shown-path.js';
import { writeClaimsFiles } from './claims-files.js';
import { printClaimsList, printRule } from './claims-text.js';

interface ClaimsFlags {
  readonly quick?: boolean;
  readonly seed?: string;
  readonly repeats?: string;
  readonly limit?: string;
  readonly out: string;
  readonly render?: string;
  readonly json?: boolean;
  readonly list?: boolean;
}

/** Repeats of a side: enough for an interval that 2 disturbed ones do not decide, and what shows that a claim runs. */
const REPEATS = { full: 8, quick: 3 } as const;
/** Longest minutes of one claim. */
const LIMIT_MINUTES = { full: 20, quick: 3 } as const;

const EXAMPLES = `
Examples:
  npm run -s claims -- --list                   the claims and their rules
  npm run -s claims -- --quick                  all of them, small: shows that they run, decides little
  npm run -s claims                             all of them; takes an hour or more, on a machine that does nothing else
  npm run -s claims -- flip-safe align-64       two of them
  npm run -s claims -- --render claims          the pages again from claims/claims.json

Exit code 0: every claim was measured or is not testable here, whatever its verdict; 1: one could not be measured; 130: ended by Ctrl-C, what
was done is kept. docs/claims.md says what each claim does.`;

/** Adds the command; `onExit` takes the exit code. */
export function addClaimsCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('claims')
    .description("test the account's claims on this machine: both sides, pre-registered rules, intervals, a verdict each")
    .argument('[ids...]', 'claims to test (default: all)')
    .option('--list', 'print the claims with their rules and end')
    .option('--quick', `${REPEATS.quick} repeats and small sizes: shows that the claims run`)
    .option('--repeats <n>', `repeats of each side (default: ${REPEATS.full}, with --quick ${REPEATS.quick})`)
    .option('--seed <n>', 'what every random choice follows from (default: from the clock, printed)')
    .option('--limit <minutes>', `longest time of one claim (default: ${LIMIT_MINUTES.full}, with --quick ${LIMIT_MINUTES.quick})`)
    .option('--out <dir>', 'folder of claims.json, claims.html and claims.md', 'claims')
    .option('--render <dir>', 'measure nothing: render the claims.json of that folder again')
    .option('--json', 'print the record as one JSON document on stdout, nothing else')
    .addHelpText('after', EXAMPLES)
    .action(async (ids: string[], flags: ClaimsFlags) => onExit(await run(ids, flags)));
}

function numberOf(name: string, text: string, least: number, most: number, whole: boolean): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most && (!whole || Number.isSafeInteger(value))) return value;
  throw new EnvladderError('bad-usage', `${name} ${text}: must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
}

function renderAgain(dir: string, ids: readonly string[], flags: ClaimsFlags): ExitCode {
  const idle = [flags.quick, flags.seed, flags.repeats, flags.limit].some((flag) => flag !== undefined) || ids.length > 0;
  if (idle)
    throw new EnvladderError('bad-usage', '--render measures nothing: leave claim ids and --quick, --seed, --repeats, --limit away');
  const record = readClaims(dir);
  show(record, flags.json === true);
  writeClaimsFiles(dir, record);
  return EXIT.good;
}

function show(record: ClaimsRecord, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  else {
    const colour = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
    process.stdout.write(`\n${renderClaimsTerminal(judgeClaims(record), colour)}\n`);
  }
}

async function run(ids: readonly string[], flags: ClaimsFlags): Promise<ExitCode> {
  const json = flags.json === true;
  const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);
  if (flags.render !== undefined) return renderAgain(flags.render, ids, flags);
  const claims = chooseClaims(ids, ALL_CLAIMS);
  if (flags.list === true) return printClaimsList(claims, say);
  const size = flags.quick === true ? 'quick' : 'full';
  const repeats = numberOf('--repeats', flags.repeats ?? String(REPEATS[size]), 3, 1000, true);
  const limitMinutes = numberOf('--limit', flags.limit ?? String(LIMIT_MINUTES[size]), 0.05, 10_080, false);
  const seed = flags.seed === undefined ? Date.now() % 1_000_000 : numberOf('--seed', flags.seed, 0, 2 ** 31 - 1, true);
  refuseEmpty('--out', flags.out, 'folder', "give the report's folder, or leave --out away for claims");
  makeFolder(flags.out);
  const interrupts = watchInterrupts();
  const abort = new AbortController();
  void interrupts.first.then(() => abort.abort());
  try {
    say(`seed ${seed}, ${repeats} repeats of each side`);
    const record = await runClaims({
      claims,
      size,
      seed,
      repeats,
      limitSeconds: limitMinutes * 60,
      signal: abort.signal,
      load: createLoadMonitor(),
      machine: readMachineFacts(),
      toolVersion: packageVersion(),
      say: (line) => process.stderr.write(`    ${line}\n`),
      onRegistered: (claim) => printRule(claim, say),
      // After each claim, so that whoever kills this loses one.
      onEntry: (_, soFar) => writeClaimsFiles(flags.out, soFar),
    });
    writeClaimsFiles(flags.out, record);
    show(record, json);
    say(`report ${shownPath(join(flags.out, 'claims.html'), process.cwd())}`);
    if (record.interrupted) return EXIT.interrupted;
    return record.claims.some(({ state }) => state === 'failed') ? EXIT.bug : EXIT.good;
  } finally {
    interrupts.dispose();
  }
}
