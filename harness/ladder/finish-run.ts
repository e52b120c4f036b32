// The end of a run: final sums, verdict, exit code, the last words on the disk. Called once, when every writer of shared memory is gone.
import { EnvladderError, type ErrorCode, exitCodeFor } from '../contract/errors.js';
import { EXIT, type ExitCode } from '../contract/exit-codes.js';
import type { Plan } from '../contract/plan.js';
import type { Reason, RunRecord } from '../contract/run-record.js';
import { headlineOf, sloVerdictOf } from '../contract/slo-verdict.js';
import type { CrewEnd } from '../supervisor/crew.js';
import { balanceBetween, balanceGap, NO_COUNTS } from './balance.js';
import type { Journal } from './run-journal.js';
import { judgeRun } from './run-validity.js';

export interface RunEnd {
  readonly plan: Plan;
  readonly journal: Journal;
  readonly end: CrewEnd;
  readonly interrupted: boolean;
  /** Why the run could not go on; null = it did. */
  readonly failure: string | null;
  /** What differs from what the plan expects. */
  readonly notAsPlanned: readonly Reason[];
}

function onceEach(reasons: readonly Reason[]): Reason[] {
  return reasons.filter((reason, index) => reasons.findIndex((other) => other.message === reason.message) === index);
}

function close(record: RunRecord, state: RunRecord['run']['state'], exitCode: ExitCode): void {
  record.verdict = record.validity.verdict;
  record.run.state = state;
  record.run.ended_at ??= new Date().toISOString();
  record.exit_code = exitCode;
}

/** What makes figures wrong, or the record less than whole, however short the run was meant to be. */
const BROKEN = ['torn', 'out-of-order', 'record-lost'];

function isBroken({ validity, balance, tiers }: RunRecord): boolean {
  if (validity.reasons.some(({ code }) => BROKEN.includes(code))) return true;
  // Not by the code `unbalanced`: a learner that was hurried to its end may owe its last count, and then nothing is known to be wrong.
  return [balance, ...tiers.map((tier) => tier.balance)].some((sums) => sums !== null && balanceGap(sums) !== 0);
}

/** Broken, interrupted, invalid, objective missed, good: the first that is so. */
function exitCodeOf(record: RunRecord, interrupted: boolean): ExitCode {
  if (interrupted) return isBroken(record) ? EXIT.invalid : EXIT.interrupted;
  if (record.validity.verdict === 'invalid') return EXIT.invalid;
  // An objective that was not measured was not shown to be met.
  return record.slo_verdict === 'missed' || record.slo_verdict === 'not-measured' ? EXIT.slo : EXIT.good;
}

function judge({ plan, journal, interrupted, failure, notAsPlanned }: RunEnd): void {
  const { record } = journal;
  record.validity = judgeRun({
    plannedTiers: plan.tiers.length,
    tiers: record.tiers,
    interrupted,
    aborted: record.tiers.some((tier) => tier.slos.some((slo) => slo.aborted)),
    notAsPlanned,
    failure,
    balance: record.balance,
    recordLost: journal.lost(),
    deathsOutside: journal.unclaimedDeaths(),
    faultsPlanned: plan.mix.some((entry) => entry.kind === 'fault'),
  });
  record.slo_verdict = sloVerdictOf(record.tiers);
  // Figures whose sums fail support no claim.
  record.headline = record.balance === null || balanceGap(record.balance) !== 0 ? null : headlineOf(record.tiers);
  record.warnings = onceEach(record.tiers.flatMap((tier) => tier.warnings));
  const exitCode = exitCodeOf(record, interrupted);
  close(record, interrupted ? 'interrupted' : failure !== null ? 'failed' : 'finished', exitCode);
}

/** Takes the final sums, judges the run and writes the record for the last time. */
export async function finishRun(run: RunEnd): Promise<void> {
  const { journal, end } = run;
  const { record } = journal;
  // Published and taken come from the control words after every writer was gone; what became of the frames, from the learner.
  record.balance =
    end.snapshot === null ? null : balanceBetween(NO_COUNTS, { ...end.snapshot, published: end.scan.published, taken: end.scan.taken });
  if (end.killed.length > 0) journal.note('warning', `killed at the drain deadline: ${end.killed.join(', ')}`, { killed: end.killed });
  journal.note('run-stopped', run.interrupted ? 'stopped on request' : run.failure === null ? 'all tiers done' : 'the run could not go on');
  await journal.closeWriter();
  judge(run);
  await journal.save();
  // The disk may have refused this very write, or taken it after refusing earlier ones: the folder should say what the program says.
  const before = record.exit_code;
  judge(run);
  if (record.exit_code !== before || journal.lost() !== null) await journal.save();
}

/** The crew never stood: the record says why, and the error goes on to the user. */
export async function finishUnstarted(journal: Journal, error: unknown): Promise<void> {
  const code: ErrorCode | 'bug' = error instanceof EnvladderError ? error.code : 'bug';
  const message = error instanceof Error ? error.message : String(error);
  const { record } = journal;
  journal.note('run-stopped', `the run could not start: ${message}`);
  record.validity = { verdict: 'invalid', reasons: [{ code, message, advice: 'nothing ran; repair the cause and start again' }] };
  close(record, 'failed', exitCodeFor(error));
  await journal.closeWriter();
  await journal.save();
}
