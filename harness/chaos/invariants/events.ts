// I7: the fault left exactly the typed events it should, with their cause, no other death or quarantine stands beside them, and every
// published frame is accounted for.

import { balanceBetween, balanceGap, NO_COUNTS } from '../../ladder/balance.js';
import type { CrewEnd, CrewEvent } from '../../supervisor/crew.js';
import type { Finding } from '../chaos-row.js';
import type { ExpectedEvent } from '../fault.js';
import type { Rig, Timed } from '../rig.js';

/** Faults as the harness names them: one that nobody injected is a false alarm, or a kill without a reason. */
const FAULT_TYPES = [
  'worker-died',
  'learner-died',
  'env-failed',
  'reset-failed',
  'env-quarantined',
  'range-lost',
  'worker-replaced',
] as const;

function matches(event: Timed<CrewEvent>, { type, cause, worker, envId }: ExpectedEvent): boolean {
  if (event.type !== type || (worker !== undefined && event.worker !== worker) || (envId !== undefined && event.envId !== envId))
    return false;
  return cause === undefined || cause.test(`${JSON.stringify(event.detail ?? {})} ${event.message}`);
}

/** Published minus everything that frames became, from the last counts of the learner and the control words after every exit. */
export function balanceOf(end: CrewEnd): { gap: number; text: string; published: number } | null {
  if (end.snapshot === null) return null;
  const balance = balanceBetween(NO_COUNTS, { ...end.snapshot, published: end.scan.published });
  const dropped = Object.entries(balance.dropped)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
  return {
    gap: balanceGap(balance),
    published: balance.published,
    text: `${balance.published} published = ${balance.trained} trained + ${balance.evaluated} evaluated + ${balance.superseded} superseded + ${balance.in_flight} in flight + dropped (${dropped || 'none'})`,
  };
}

export function judgeEvents(rig: Rig, end: CrewEnd, expect: readonly ExpectedEvent[], sinceMs: number): Finding {
  const problems: string[] = [];
  const seen = rig.events.filter(({ ms }) => ms >= sinceMs);
  const explained = new Set<Timed<CrewEvent>>();
  for (const wanted of expect) {
    const found = seen.filter((event) => matches(event, wanted));
    for (const event of found) explained.add(event);
    const count = wanted.count ?? 1;
    if (found.length !== count) {
      const others = seen.filter(({ type }) => type === wanted.type).map(({ message }) => message);
      problems.push(
        `${found.length} of ${count} ${wanted.type}${wanted.cause === undefined ? '' : ` with ${wanted.cause}`}${others.length > 0 ? `; seen: ${others.slice(0, 2).join(' | ')}` : ''}`,
      );
    }
  }
  const stray = seen.filter((event) => (FAULT_TYPES as readonly string[]).includes(event.type) && !explained.has(event));
  if (stray.length > 0) problems.push(`${stray.length} that nothing explains: ${stray[0]?.type}: ${stray[0]?.message}`);
  const balance = balanceOf(end);
  if (balance === null) problems.push('the learner had no last word');
  else if (balance.gap !== 0) problems.push(`the sums are off by ${balance.gap}: ${balance.text}`);
  const names = expect.map(({ type, count }) => `${count ?? 1} ${type}`).join(', ');
  return {
    ok: problems.length === 0,
    evidence: problems.length === 0 ? `${names === '' ? 'no fault event, none due' : names}; ${balance?.text}` : problems.join('; '),
  };
}
