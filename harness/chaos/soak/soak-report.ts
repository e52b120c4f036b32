// What a soak found, as soak.json for programs and soak.md for people; written after every tier and at the end, so that a soak that is cut
// off leaves the newest one. The Markdown is a pure rendering of the JSON.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineFacts } from '../../contract/run-record.js';
import type { Growth } from './process-samples.js';
import type { Death, SoakFault, SoakStrike } from './soak-faults.js';

export interface ProcessGrowth extends Growth {
  readonly role: string;
  readonly pid: number;
}

export interface SoakReport {
  readonly schema_version: '1.0.0';
  readonly plan: string;
  readonly seed: number;
  readonly started_at: string;
  /** Over all parts of a resumed soak. */
  readonly hours: number;
  /** Run folders of its parts, oldest first. */
  readonly runs: readonly string[];
  /** Measured seconds of the plan that are over. */
  readonly done_s: number;
  readonly finished: boolean;
  readonly strikes: Readonly<Partial<Record<SoakFault, number>>>;
  readonly newest_strikes: readonly SoakStrike[];
  readonly deaths: number;
  readonly false_kills: readonly Death[];
  readonly restarts: number;
  readonly suspensions: number;
  readonly growth: readonly ProcessGrowth[];
  readonly redis: 'own' | 'none';
  readonly exit_codes: readonly (number | null)[];
  readonly verdicts: readonly string[];
  readonly machine: MachineFacts;
  readonly problems: readonly string[];
}

const slope = (bytes: number | null, error: number | null): string =>
  bytes === null || error === null ? 'slope: too short to say' : `${(bytes / 1e6).toFixed(2)} +- ${(error / 1e6).toFixed(2)} MB/h`;

/** Lines for the terminal: what a person asks at a tier's end. Pure. */
export function renderSoak(report: SoakReport): string[] {
  const strikes = Object.entries(report.strikes)
    .map(([fault, times]) => `${times} ${fault}`)
    .join(', ');
  return [
    `${report.hours.toFixed(2)} h, ${Math.round(report.done_s)} s of the plan${report.finished ? ', finished' : ''}; faults: ${strikes || 'none'}`,
    `${report.deaths} worker deaths, ${report.false_kills.length} false kills, ${report.restarts} restarts, killing suspended ${report.suspensions} times`,
    ...report.growth.map(
      ({ role, pid, seconds, slopeBytesPerHour, slopeError, fdsFirst, fdsLast, fdsMost }) =>
        `${role} (pid ${pid}, ${Math.round(seconds)} s): RSS ${slope(slopeBytesPerHour, slopeError)}, fds ${fdsFirst} -> ${fdsLast}, at most ${fdsMost}`,
    ),
    ...report.false_kills.slice(0, 5).map(({ message }) => `false kill: ${message}`),
    ...report.problems,
  ];
}

export function writeSoakReport(dir: string, report: SoakReport): void {
  writeFileSync(join(dir, 'soak.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(
    join(dir, 'soak.md'),
    [
      '# Soak report',
      '',
      `Plan ${report.plan}, seed ${report.seed}, begun ${report.started_at}; runs: ${report.runs.join(', ')}.`,
      '',
      ...renderSoak(report).map((line) => `- ${line}`),
      '',
    ].join('\n'),
  );
}
