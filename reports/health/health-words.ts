// Figures of health as words, for every format. Pure.
import { GAP_EDGES_S, type GrowthRecord, type HealthReport, type Slope } from '../../harness/contract/health-report.js';
import { formatBytes, formatCount, formatPercent, formatSeconds, MISSING } from '../quantity.js';

/** "+1.20 MiB/h (-0.10 to 2.31)": value and 95 % interval. */
export function slopeText(slope: Slope): string {
  if (slope === null) return MISSING;
  return `${signedBytes(slope.value)}/h (${signedBytes(slope.low)} to ${signedBytes(slope.high)})`;
}

function signedBytes(bytes: number): string {
  const size = formatBytes(Math.abs(Math.round(bytes)));
  return bytes <= -0.5 ? `\u2212${size}` : bytes >= 0.5 ? `+${size}` : size;
}

/** What the interval allows to say. */
export function growthVerdict(slope: Slope): 'grows' | 'shrinks' | 'no sure change' | 'too short to say' {
  if (slope === null) return 'too short to say';
  return slope.low > 0 ? 'grows' : slope.high < 0 ? 'shrinks' : 'no sure change';
}

export function fdsText({ fds, fds_flat }: Pick<GrowthRecord, 'fds' | 'fds_flat'>): string {
  const said = fds_flat === null ? '' : fds_flat ? ', flat' : ', rising';
  return `${formatCount(fds.last)}${said}`;
}

/** Four figures: a score of 0.9996 is not 1. */
export function scoreText(score: number | null): string {
  return score === null ? MISSING : score.toFixed(4);
}

function classText(i: number): string {
  const [from, to] = [GAP_EDGES_S[i - 1], GAP_EDGES_S[i]];
  return from === undefined ? `below ${to} s` : to === undefined ? `of ${from} s and more` : `of ${from} to ${to} s`;
}

/** The health of the run in a few facts: name and sentence part. */
export function healthFacts(health: HealthReport): (readonly [string, string])[] {
  const { deadlines_missed: missed, restarts, suspended, gaps, refused, log, errors } = health;
  const count = (what: Readonly<Record<string, number>>) =>
    Object.entries(what)
      .filter(([, times]) => times > 0)
      .map(([name, times]) => `${formatCount(times)} ${name}`)
      .join(', ') || 'none';
  const times = (n: number) => `${formatCount(n)} time${n === 1 ? '' : 's'}`;
  const classes = gaps.classes
    .map((n, i) => (n === 0 ? '' : `${formatCount(n)} ${classText(i)}`))
    .filter((text) => text !== '')
    .join(', ');
  return [
    [
      'restarts',
      restarts.causes.length === 0
        ? 'none'
        : restarts.causes
            .slice(0, 6)
            .map(({ cause, total }) => `${formatCount(total)} ${cause}`)
            .join(', '),
    ],
    ['replaced for memory', times(restarts.soft)],
    ['deadlines missed', count(missed)],
    ['gaps', gaps.times === 0 ? 'none' : `${formatCount(gaps.times)}, ${formatSeconds(gaps.total_s)} of env time: ${classes}`],
    ['killing suspended', suspended.times === 0 ? 'never' : `${times(suspended.times)}, ${formatSeconds(suspended.total_s)}`],
    [
      'errors',
      errors.total === 0
        ? 'none'
        : `${formatCount(errors.total)} of ${formatCount(errors.distinct)} kinds${errors.lost + errors.unlisted === 0 ? '' : `, ${formatCount(errors.lost + errors.unlisted)} of unknown kind`}`,
    ],
    ['messages refused', count(refused)],
    [
      'error log',
      `${formatBytes(log.written_bytes)} of ${formatBytes(log.budget_bytes)}${log.left_out_lines === 0 ? '' : `, ${formatCount(log.left_out_lines)} lines left out`}${log.failed_writes === 0 ? '' : `, ${formatCount(log.failed_writes)} writes refused by the disk`}`,
    ],
  ];
}

/** Share of all errors, and of how many kinds the table shows. */
export function errorsCaption({ errors }: HealthReport, shown: number): string {
  const covered = errors.top.slice(0, shown).reduce((sum, { share }) => sum + share, 0);
  return `the ${formatCount(Math.min(shown, errors.top.length))} most frequent kinds make ${formatPercent(Math.min(1, covered))} of ${formatCount(errors.total)} errors`;
}
