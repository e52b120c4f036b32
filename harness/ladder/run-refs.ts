// Builds a git ref and the current tree side by side and lets both run one plan, interleaved in random order: the runs that `envladder
// compare --base` compares. The run folders stay; the worktrees go, however this ends.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BUILD_COUNTS_NAME, BUILD_COUNTS_ROW } from '../contract/build-counts.js';
import { EnvladderError } from '../contract/errors.js';
import { EXIT } from '../contract/exit-codes.js';
import { buildTree } from './build-tree.js';
import { interleave, type Turn } from './interleave.js';
import type { Interrupts } from './interrupts.js';
import { makeFolder } from './make-folder.js';
import { packageRoot } from './package-root.js';
import { readPlanSource } from './plan-source.js';
import { createWorktrees, type Worktrees } from './ref-worktrees.js';
import { runChild } from './run-child.js';
import { makeRunId } from './run-id.js';

/** Eight a side: the smallest p is then 1.6e-4, which passes Holm's correction over 300 metrics. */
export const MIN_RUNS = 8;

export interface RunRefsRequest {
  readonly ref: string;
  readonly plan: string;
  /** A side. */
  readonly runs: number;
  readonly seed: number;
  /** Folder for the runs; undefined = runs/compare-TIME. */
  readonly out: string | undefined;
  readonly cwd: string;
  readonly interrupts: Interrupts;
  readonly say: (line: string) => void;
  /** The clone; tests hand in one of their own. */
  readonly root?: string;
}

export interface RefRuns {
  readonly baseDir: string;
  readonly candidateDir: string;
  readonly baseName: string;
  readonly candidateName: string;
  readonly interrupted: boolean;
}

function freshFolder(out: string): string {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new EnvladderError('run-folder', `--out ${out}: is not empty; name a new folder, so that old runs are not taken for these`);
  }
  makeFolder(out);
  return out;
}

/** One run. Invalid and slow runs are results; a program that cannot run at all ends the comparison. */
async function takeTurn(turn: Turn, tree: string, planFile: string, dir: string, request: RunRefsRequest): Promise<void> {
  const main = join(tree, 'dist', 'harness', 'cli', 'main.js');
  const words = [process.execPath, main, 'ladder', '--plan', planFile, '--out', dir, '--json'];
  const end = await runChild(words, request.cwd, request.interrupts);
  if (request.interrupts.count() > 0) return;
  const isResult = end.code === EXIT.good || end.code === EXIT.invalid || end.code === EXIT.slo;
  if (isResult && existsSync(join(dir, 'run.json'))) return;
  throw new EnvladderError(
    end.code === EXIT.preflight ? 'preflight' : 'bad-usage',
    `run ${turn.number} of the ${turn.side} ended with ${end.signal ?? `exit code ${end.code}`} and no result\n${end.stderrTail}\nboth programs must be able to run the plan: choose another with --plan, or compare run folders instead`,
  );
}

/** What a step of this build costs, into counts.json beside its runs. A program that cannot count leaves none, which a comparison then sees. */
async function countBuild(label: string, tree: string, dir: string, request: RunRefsRequest): Promise<void> {
  const main = join(tree, 'dist', 'harness', 'bench', 'main.js');
  const file = join(dir, BUILD_COUNTS_NAME);
  const words = [process.execPath, main, '--only', BUILD_COUNTS_ROW, '--json'];
  const end = await runChild(words, tree, request.interrupts, file);
  if (end.code === EXIT.good) return;
  rmSync(file, { force: true });
  if (request.interrupts.count() > 0) return;
  request.say(
    `the ${label} does not count what a step costs (${end.stderrTail.split('\n').at(-1) || `exit code ${end.code}`}): runs alone are compared`,
  );
}

async function runAll(trees: Worktrees, request: RunRefsRequest, root: string, out: string): Promise<boolean> {
  const planFile = readPlanSource(request.plan, request.cwd).file;
  for (const [label, tree] of [[`base (${request.ref})`, trees.base] as const, ['candidate (current tree)', trees.candidate] as const]) {
    request.say(`building the ${label}`);
    if (!(await buildTree(tree, root, `the ${label}`, request.interrupts))) return false;
  }
  request.say('counting bytes, heap, calls and messages of a step, of both');
  await countBuild(`base (${request.ref})`, trees.base, join(out, 'base'), request);
  await countBuild('candidate (current tree)', trees.candidate, join(out, 'candidate'), request);
  const turns = interleave(request.runs, request.seed);
  for (const [i, turn] of turns.entries()) {
    if (request.interrupts.count() > 0) return false;
    request.say(`run ${i + 1} of ${turns.length}: ${turn.side}`);
    await takeTurn(turn, trees[turn.side], planFile, join(out, turn.side, String(turn.number).padStart(3, '0')), request);
  }
  return request.interrupts.count() === 0;
}

/** Builds, runs, cleans up. Throws `bad-usage` or `preflight` when a side cannot be built or run. */
export async function runRefs(request: RunRefsRequest): Promise<RefRuns> {
  const root = request.root ?? packageRoot();
  const out = resolve(request.cwd, request.out ?? join('runs', makeRunId('compare')));
  const trees = createWorktrees(root, request.ref);
  try {
    freshFolder(out);
    for (const side of ['base', 'candidate']) makeFolder(join(out, side));
    const done = await runAll(trees, request, root, out);
    return {
      baseDir: join(out, 'base'),
      candidateDir: join(out, 'candidate'),
      baseName: `${request.ref} (${trees.baseCommit.slice(0, 12)})`,
      candidateName: trees.candidateName,
      interrupted: !done,
    };
  } finally {
    trees.remove();
  }
}
