// The answer to `envladder ctl status` as a person reads it: how the climb stands, what is unusual, a line per worker. Pure.
import type { CtlStatus } from '../contract/ctl-status.js';
import { formatBytes, formatCount, formatSeconds } from '../ladder/format-amount.js';
import { textTable } from '../ladder/text-table.js';

const HEADINGS = ['worker', 'verdict', 'pid', 'epoch', 'now', 'native', 'loop', 'in work', 'restarts', 'left', 'memory'] as const;
const ALIGN = ['right', 'left', 'right', 'right', 'left', 'right', 'right', 'right', 'right', 'right', 'right'] as const;

const ms = (age: number): string => (age >= 10_000 ? formatSeconds(age / 1000) : `${Math.round(age)} ms`);

function workerRow(worker: CtlStatus['workers'][number]): string[] {
  const busy = worker.op !== 'idle';
  return [
    String(worker.worker),
    worker.verdict,
    worker.pid === null ? '-' : String(worker.pid),
    String(worker.epoch),
    busy ? `${worker.op}${worker.envId >= 0 ? ` env ${worker.envId}` : ''}` : 'idle',
    ms(worker.nativeAgeMs),
    ms(worker.loopAgeMs),
    busy ? ms(worker.opAgeMs) : '-',
    String(worker.restarts),
    String(worker.budgetLeft),
    worker.report === null ? '-' : formatBytes(worker.report.rssBytes),
  ];
}

function runLines(run: NonNullable<CtlStatus['run']>): string[] {
  const seconds = (Date.parse(run.at) - Date.parse(run.startedAt)) / 1000;
  return [
    `run ${run.runId}, plan ${run.plan}: tier ${run.tier + 1}, ${run.phase}${seconds >= 0 ? `, ${formatSeconds(seconds)} since its start` : ''}`,
    `  envs      ${formatCount(run.live)} of ${formatCount(run.envs)} live   ${formatCount(run.quarantined)} quarantined   ${formatCount(run.restarts)} worker restarts`,
    `  steps/s   ${formatCount(run.samplingSps)} sampled   ${formatCount(run.trainingSps)} trained`,
  ];
}

export function statusText(status: CtlStatus): string {
  const { run, workers, learner, suspended } = status;
  const missed = Object.entries(status.deadlinesMissed).filter(([, count]) => count > 0);
  const learnerMemory = learner.report === null ? '' : `, ${formatBytes(learner.report.rssBytes)}`;
  return [
    ...(run === null ? [] : runLines(run)),
    `  learner   ${learner.pid === null ? 'away' : `pid ${learner.pid}${learnerMemory}`}   ${formatCount(learner.restarts)} restarts`,
    ...(suspended === null ? [] : [`  nothing is killed for now: ${suspended}`]),
    ...(missed.length === 0 ? [] : [`  deadlines missed: ${missed.map(([op, count]) => `${op} ${formatCount(count)}`).join(', ')}`]),
    '',
    textTable([...HEADINGS], workers.map(workerRow), [...ALIGN]),
  ].join('\n');
}
