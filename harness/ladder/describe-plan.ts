// What `envladder plan` prints: the plan with nothing left to default, and what it will need. Pure.
import { stringify } from 'yaml';
import { formatBytes, formatCount, formatSeconds } from './format-amount.js';
import type { PreparedLadder } from './prepare-ladder.js';
import { textTable } from './text-table.js';

function tierTable({ needs }: PreparedLadder): string {
  const rows = needs.tiers.map((tier) => [tier.label, formatCount(tier.envs), formatSeconds(tier.seconds), formatBytes(tier.shmBytes)]);
  return textTable(['tier', 'envs', 'for', 'shared memory'], rows, ['left', 'right', 'right', 'right']);
}

function planeTable({ needs }: PreparedLadder): string {
  const rows = needs.planes.map((plane) => [
    plane.entry,
    plane.plane,
    formatCount(plane.envs),
    formatBytes(plane.bytesPerEnv),
    formatBytes(plane.bytes),
  ]);
  rows.push(['all', '', formatCount(needs.envs), '', formatBytes(needs.shmBytes)]);
  return textTable(['kind', 'plane', 'envs', 'per env', 'bytes'], rows, ['left', 'left', 'right', 'right', 'right']);
}

function seatsOf({ needs }: PreparedLadder): string {
  const workers = `${needs.workers} env worker${needs.workers === 1 ? '' : 's'}`;
  if (needs.packs === 0) return workers;
  const packs = `${formatCount(needs.packs)} pack${needs.packs === 1 ? '' : 's'} with seats of their own`;
  return needs.workers === 0 ? packs : `${workers}, ${packs}`;
}

function needsTable(prepared: PreparedLadder): string {
  const { needs } = prepared;
  const rows = [
    ['measured time', formatSeconds(needs.seconds), 'plus growing and stopping'],
    ['processes', formatCount(needs.processes), `${seatsOf(prepared)}, a learner, a supervisor`],
    [
      'threads',
      `up to ${formatCount(needs.threads)}`,
      needs.threadSeats === 0 ? '' : `${formatCount(needs.threadSeats)} packs are threads of shared processes`,
    ],
    ...(needs.groups === 0 ? [] : [['groups', formatCount(needs.groups), 'start in turn']]),
    ['file descriptors', formatCount(needs.fds), 'soft limit (ulimit -n); see docs/plans.md'],
    [
      'memory',
      formatBytes(needs.memoryBytes),
      Object.entries(needs.memory)
        .map(([part, bytes]) => `${part} ${formatBytes(bytes)}`)
        .join(', '),
    ],
    ['disk', formatBytes(needs.diskBytes), 'run folder: record, events, metrics, checkpoints, report'],
  ];
  return textTable(['need', 'estimate', 'made of'], rows, ['left', 'right', 'left']);
}

/** The whole text, ready to print. */
export function describePlan(prepared: PreparedLadder): string {
  const { plan, label } = prepared.read;
  return [
    `# the resolved plan (${label})`,
    // Tiers share the plan's objectives: each is written out where it holds.
    stringify(plan, { aliasDuplicateObjects: false }).trimEnd(),
    '',
    '# what it needs',
    tierTable(prepared),
    '',
    planeTable(prepared),
    '',
    needsTable(prepared),
  ].join('\n');
}
