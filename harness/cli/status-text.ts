// The running ladder as text: a few lines that a terminal redraws in place, or one plain line for logs. Pure.
import { formatBytes, formatCount, formatSeconds } from '../ladder/format-amount.js';
import type { LadderStatus } from '../ladder/ladder-status.js';

const BAR_CELLS = 24;
/** Kinds named in a plain line; the rest are in metrics.ndjson. */
const MAX_KINDS = 8;

function phaseText(status: LadderStatus): string {
  switch (status.phase) {
    case 'starting':
      return 'starting workers and learner';
    case 'growing':
      return `growing: ${formatCount(status.live)} of ${formatCount(status.envs)} envs live`;
    case 'measuring':
      return `measuring ${Math.min(status.tierSeconds, status.plannedSeconds).toFixed(0)} of ${formatSeconds(status.plannedSeconds)}`;
    case 'stopping':
      return 'stopping: checkpoint and drain';
    case 'done':
      return 'done';
  }
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)}`;
}

function shareDone(status: LadderStatus): number {
  if (status.phase === 'measuring') return status.plannedSeconds > 0 ? status.tierSeconds / status.plannedSeconds : 0;
  if (status.phase === 'growing') return status.envs > 0 ? status.live / status.envs : 0;
  return status.phase === 'starting' ? 0 : 1;
}

function rewards(status: LadderStatus): string[] {
  return Object.entries(status.kinds)
    .filter(([, kind]) => kind.recentReturn !== null)
    .slice(0, MAX_KINDS)
    .map(([name, kind]) => `${name} ${(kind.recentReturn ?? 0).toFixed(1)}`);
}

/** Lines for a terminal of `columns` characters; none is longer. */
export function statusLines(status: LadderStatus, columns: number): string[] {
  const kinds = rewards(status);
  const lines = [
    `tier ${status.tier + 1}/${status.tiers}  ${status.label}  ${bar(shareDone(status))}  ${phaseText(status)}   ETA ${formatSeconds(status.etaSeconds)}`,
    `  envs      ${formatCount(status.live)} live   ${formatCount(status.quarantined)} quarantined   ${formatCount(status.restarts)} worker restarts`,
    `  steps/s   ${formatCount(status.samplingSps)} sampled   ${formatCount(status.trainingSps)} trained   batch fill ${Math.round(status.batchFill * 100)} %   ${formatCount(status.updates)} updates`,
    `  memory    ${status.memoryBytes > 0 ? formatBytes(status.memoryBytes) : 'measuring'}   run time ${formatSeconds(status.runSeconds)}`,
    `  reward    ${kinds.length === 0 ? 'no episode has ended yet' : `${kinds.join('   ')}   (mean of the last 100 episodes)`}`,
  ];
  return lines.map((line) => (line.length > columns ? `${line.slice(0, Math.max(0, columns - 1))}…` : line));
}

/** One line for a log. */
export function statusLine(status: LadderStatus): string {
  const kinds = rewards(status);
  return [
    `[${formatSeconds(status.runSeconds)}] tier ${status.tier + 1}/${status.tiers} ${phaseText(status)}`,
    `live ${formatCount(status.live)}`,
    `sampled ${formatCount(status.samplingSps)}/s`,
    `trained ${formatCount(status.trainingSps)}/s`,
    `fill ${Math.round(status.batchFill * 100)} %`,
    `restarts ${status.restarts}`,
    ...(status.memoryBytes > 0 ? [`memory ${formatBytes(status.memoryBytes)}`] : []),
    `ETA ${formatSeconds(status.etaSeconds)}`,
    ...(kinds.length === 0 ? [] : [`reward ${kinds.join(', ')}`]),
  ].join(' | ');
}
