// `envladder compare`: is the candidate worse than the base? Compares runs that exist, or with --base builds a git ref and the current tree
// and runs both first.
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { type Comparison, compareSides, type Side } from '../../reports/compare/compare-sides.js';
import { comparisonJson } from '../../reports/compare/comparison-json.js';
import { readCounts } from '../../reports/compare/read-counts.js';
import { MAX_SIDE_RUNS, readRuns } from '../../reports/compare/read-runs.js';
import { renderComparisonMarkdown } from '../../reports/compare/render-markdown.js';
import { renderComparisonTerminal } from '../../reports/compare/render-terminal.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import { watchInterrupts } from '../ladder/interrupts.js';
import { MIN_RUNS, runRefs } from '../ladder/run-refs.js';
import { shownPath } from '../ladder/shown-path.js';
import { parseNoise, parseWhole } from './compare-values.js';
import { typedCommand } from './typed-command.js';

interface CompareFlags {
  readonly baseRuns?: string[];
  readonly candidateRuns?: string[];
  readonly base?: string;
  readonly plan: string;
  readonly runs: string;
  readonly out?: string;
  readonly seed: string;
  readonly noise?: string;
  readonly forceDifferent?: boolean;
  readonly json?: boolean;
  readonly markdown?: string | true;
}

const EXAMPLES = `
Examples:
  npm run -s envladder -- compare runs/A runs/B                       two runs: counts only, timing needs more runs
  npm run -s envladder -- compare base/ candidate/                    two folders of run folders
  npm run -s envladder -- compare --base-runs runs/A1 runs/A2 --candidate-runs runs/B1 runs/B2
  npm run -s envladder -- compare --base main                         build main and the current tree, run both ${MIN_RUNS} times interleaved
  npm run -s envladder -- compare --base v0.1.0 --plan ./my-plan.yaml --runs 12 --markdown comment.md

Exit code 6: a metric regressed or is missing. 4: a run was invalid. How verdicts come about: docs/compare.md.`;

/** Adds the command; `onExit` takes the exit code. */
export function addCompareCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command('compare')
    .argument('[base]', 'run folder, or folder of run folders')
    .argument('[candidate]', 'the same, of the program to be judged')
    .description('is the candidate worse than the base? a verdict per metric')
    .option('--base-runs <dir...>', 'runs of the base, several folders')
    .option('--candidate-runs <dir...>', 'runs of the candidate, several folders')
    .option('--base <ref>', 'git ref: build it and the current tree in worktrees, run both interleaved on this machine')
    .option('--plan <name>', 'with --base: plan that both sides run', 'smoke')
    .option('--runs <k>', `with --base: runs a side, at least ${MIN_RUNS}`, String(MIN_RUNS))
    .option('--out <dir>', 'with --base: folder for the runs (default: runs/compare-TIME)')
    .option('--seed <n>', 'seed of the order of runs and of resampling', '1')
    .option('--noise <list>', 'declared noise in place of the built-in: sampling_sps=0.05,pss_bytes=0.1')
    .option('--force-different', 'compare runs of different machine class, plan or configuration anyway')
    .option('--json', 'print the comparison as one JSON document on stdout, nothing else')
    .option('--markdown [file]', 'Markdown for a pull request: into a file, or on stdout')
    .addHelpText('after', EXAMPLES)
    .action(async (base: string | undefined, candidate: string | undefined, flags: CompareFlags) =>
      onExit(await compare(base, candidate, flags)),
    );
}

/** The two sides from folders. */
function sidesFromFolders(base: string | undefined, candidate: string | undefined, flags: CompareFlags): readonly [Side, Side] {
  const named = base !== undefined && candidate !== undefined;
  const listed = flags.baseRuns !== undefined && flags.candidateRuns !== undefined;
  const mixed = (base ?? candidate) !== undefined && (flags.baseRuns ?? flags.candidateRuns) !== undefined;
  if (mixed || (!named && !listed)) {
    throw new EnvladderError(
      'bad-usage',
      'two sides are needed: envladder compare BASE CANDIDATE, or --base-runs DIR... --candidate-runs DIR..., or --base GIT_REF',
    );
  }
  const side = (paths: readonly string[]): Side => ({ name: paths.join(', '), records: readRuns(paths), counts: readCounts(paths) });
  return named ? [side([base]), side([candidate])] : [side(flags.baseRuns ?? []), side(flags.candidateRuns ?? [])];
}

/** Makes the runs first; null when interrupted. */
async function sidesFromRef(ref: string, flags: CompareFlags, seed: number): Promise<readonly [Side, Side] | null> {
  const interrupts = watchInterrupts();
  try {
    const done = await runRefs({
      ref,
      plan: flags.plan,
      runs: parseWhole('--runs', flags.runs, MIN_RUNS, MAX_SIDE_RUNS),
      seed,
      out: flags.out,
      cwd: process.cwd(),
      interrupts,
      say: (line: string) => process.stderr.write(`${line}\n`),
    });
    const where = shownPath(dirname(done.baseDir), process.cwd());
    process.stderr.write(done.interrupted ? `interrupted; the runs made so far are in ${where}\n` : `runs are in ${where}\n`);
    if (done.interrupted) return null;
    return [
      { name: done.baseName, records: readRuns([done.baseDir]), counts: readCounts([done.baseDir]) },
      { name: done.candidateName, records: readRuns([done.candidateDir]), counts: readCounts([done.candidateDir]) },
    ];
  } finally {
    interrupts.dispose();
  }
}

async function compare(base: string | undefined, candidate: string | undefined, flags: CompareFlags): Promise<ExitCode> {
  const noise = parseNoise(flags.noise);
  const seed = parseWhole('--seed', flags.seed, 0, 2 ** 31 - 1);
  let sides: readonly [Side, Side];
  if (flags.base === undefined) sides = sidesFromFolders(base, candidate, flags);
  else {
    if ((base ?? flags.baseRuns ?? flags.candidateRuns) !== undefined) {
      throw new EnvladderError('bad-usage', '--base GIT_REF makes its own runs; leave the run folders out, or leave out --base');
    }
    const made = await sidesFromRef(flags.base, flags, seed);
    if (made === null) return EXIT.interrupted;
    sides = made;
  }
  const comparison = compareSides(sides[0], sides[1], {
    seed,
    noise,
    // Both sides ran the same plan on this machine: what differs in the record is the programs' own doing, and is noted.
    forceDifferent: flags.forceDifferent === true || flags.base !== undefined,
    reproduce: [typedCommand(process.argv.slice(2))],
  });
  print(comparison, flags);
  return comparison.exitCode;
}

function print(comparison: Comparison, flags: CompareFlags): void {
  if (typeof flags.markdown === 'string') writeMarkdown(flags.markdown, comparison);
  if (flags.json === true) process.stdout.write(`${JSON.stringify(comparisonJson(comparison), null, 2)}\n`);
  else if (flags.markdown === true) process.stdout.write(renderComparisonMarkdown(comparison));
  else {
    const colour = process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
    process.stdout.write(`\n${renderComparisonTerminal(comparison, colour)}\n`);
  }
}

function writeMarkdown(file: string, comparison: Comparison): void {
  try {
    writeFileSync(file, renderComparisonMarkdown(comparison));
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new EnvladderError('bad-usage', `--markdown ${file}: cannot be written (${errno}); choose another file`, { cause });
  }
}
