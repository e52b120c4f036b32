// What the parts of the health section look up: an env's state and range by id, and which ids have an entry to link to. Pure.
import { HEALTH_STATE_LETTERS, HEALTH_STATES, type HealthReport, type HealthState } from '../../harness/contract/health-report.js';
import { formatCount } from '../quantity.js';
import { escapeHtml } from '../render/escape-html.js';

/** Entries of envs on the page; the worst first. */
export const MAX_ENTRIES = 1000;
/** From worst to best: order of entries, and what a cell of many envs shows. */
export const SEVERITY: readonly HealthState[] = ['lost', 'quarantined', 'stale', 'slow', 'restarted', 'live', 'not-started'];

type Range = HealthReport['ranges'][number];

export interface HealthIndex {
  /** Code of HEALTH_STATES by env id. */
  readonly states: Uint8Array;
  stateOf(env: number): HealthState;
  rangeOf(env: number): Range | undefined;
  /** Envs that have an entry, in its order. */
  readonly entries: readonly number[];
  hasEntry(env: number): boolean;
  hasWorkerEntry(worker: number): boolean;
  /** "env 17" as a link to its entry, or plain. */
  link(env: number): string;
}

const CODES = new Map(HEALTH_STATES.map((state, code) => [HEALTH_STATE_LETTERS[state], code]));

export function unpackStates(packed: string, envs: number): Uint8Array {
  const states = new Uint8Array(envs);
  let at = 0;
  for (const [, count, letter] of packed.matchAll(/(\d{1,7})([a-z])/g)) {
    states.fill(CODES.get(letter as string) ?? 0, at, at + Number(count));
    at += Number(count);
  }
  return states;
}

export function indexHealth(health: HealthReport): HealthIndex {
  const states = unpackStates(health.states, health.envs);
  const ranges = [...health.ranges].sort((a, b) => a.first - b.first);
  const stateOf = (env: number): HealthState => HEALTH_STATES[states[env] ?? 0] ?? 'not-started';
  const failures = new Map(health.troubled.envs.map(([env, , failed]) => [env, failed]));
  const severity = (env: number) => SEVERITY.indexOf(stateOf(env));
  const entries = health.events.envs
    .map(([env]) => env)
    .filter((env) => env < health.envs)
    .sort((a, b) => severity(a) - severity(b) || (failures.get(b) ?? 0) - (failures.get(a) ?? 0) || a - b)
    .slice(0, MAX_ENTRIES);
  const linked = new Set(entries);
  const workers = new Set(health.events.workers.map(([worker]) => worker));
  return {
    states,
    stateOf,
    rangeOf(env) {
      let [low, high] = [0, ranges.length - 1];
      while (low <= high) {
        const middle = (low + high) >> 1;
        const range = ranges[middle] as Range;
        if (env < range.first) high = middle - 1;
        else if (env >= range.first + range.count) low = middle + 1;
        else return range;
      }
      return undefined;
    },
    entries,
    hasEntry: (env) => linked.has(env),
    hasWorkerEntry: (worker) => workers.has(worker),
    link: (env) => (linked.has(env) ? `<a href="#env-${env}">env ${formatCount(env)}</a>` : escapeHtml(`env ${formatCount(env)}`)),
  };
}
