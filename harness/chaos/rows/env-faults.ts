// Rows 6, 7, 10 and 52: single envs that hang, throw, crash their process again and again, and all envs failing at once.
import { monotonicMs } from '../../supervisor/clock.js';
import { type CrewChaosRow, crewRow } from '../crew-row.js';
import type { Rig } from '../rig.js';
import { triggerOf, triggerRig } from '../trigger-rig.js';
import { pickWorkers, workerDeath } from '../worker-death.js';

const STEP_DEADLINE_SECONDS = 1;

/** An env of a seat no fault has struck yet. */
function pickEnv(rig: Rig): { env: number; worker: number } {
  const [worker = 0] = pickWorkers(rig, 1);
  const envs = rig.envsOf(worker);
  return { worker, env: envs[rig.context.seed % envs.length] as number };
}

/** First time the env published after `sinceSeq`, as seen now. */
const stepped = (rig: Rig, env: number, sinceSeq: number): boolean => (rig.sampler.look().seq[env] as number) > sinceSeq;

export const envHangs: CrewChaosRow = crewRow({
  row: 6,
  fault: 'one env hangs in its step (isolation: process)',
  outcome: 'its pack is replaced at the deadline, all siblings step on',
  recoverLimitMs: STEP_DEADLINE_SECONDS * 1000 + 2000,
  pairable: true,
  rig: triggerRig({ stepDeadlineSeconds: STEP_DEADLINE_SECONDS, workers: 1 }, { isolation: 'process', pack: 20 }),
  async inject(rig) {
    const { env, worker } = pickEnv(rig);
    return workerDeath(rig, [worker], () => triggerOf(rig).pull(env, 'hang'), /deadline/);
  },
});

export const envThrows: CrewChaosRow = crewRow({
  row: 7,
  fault: 'one env throws in each step',
  outcome: 'cools down past its budget, then is quarantined; one fingerprint; its neighbours step on',
  recoverLimitMs: 10_000,
  pairable: true,
  rig: triggerRig({
    health: {
      envBudget: { restarts: 5, perSeconds: 600 },
      coolDownSeconds: 1,
      coolDowns: 1,
      backoff: { baseSeconds: 0.05, maxSeconds: 0.2 },
    },
  }),
  async inject(rig) {
    const { env } = pickEnv(rig);
    const atMs = monotonicMs();
    triggerOf(rig).pull(env, 'throw', true);
    const of = (type: 'env-failed' | 'env-cooling' | 'env-quarantined') =>
      rig.eventsSince(atMs, type).filter((event) => event.envId === env);
    let failures = 0;
    return {
      atMs,
      touched: [env],
      detected: () => of('env-failed')[0]?.ms ?? null,
      recovered: () => of('env-quarantined')[0]?.ms ?? null,
      undo: () => {
        failures = of('env-failed').length;
        const problems: string[] = [];
        if (of('env-cooling').length !== 1) problems.push(`${of('env-cooling').length} cool-downs, not 1`);
        const cells = rig.crew
          .errors()
          .flatMap(({ cells: each }) => [...each])
          .filter(({ exemplar }) => exemplar.envId === env);
        const counted = cells.reduce((sum, { count }) => sum + count, 0);
        if (cells.length !== 1) problems.push(`${cells.length} fingerprints, not 1`);
        if (counted !== failures) problems.push(`${counted} errors in the table, ${failures} failures told`);
        // Five rebuilds and a cool-down were allowed; the failure after that one ends it.
        if (failures < 6 || failures > 13) problems.push(`${failures} failures before it was quarantined`);
        return problems;
      },
      get expect() {
        return [
          { type: 'env-quarantined', envId: env },
          { type: 'env-cooling', envId: env },
          { type: 'env-failed', envId: env, cause: /triggered fault/, count: failures },
        ] as const;
      },
    };
  },
});

export const crashLoop: CrewChaosRow = crewRow({
  row: 10,
  fault: 'one env takes its worker down in every life',
  outcome: 'quarantined at its crash budget, the others are fine',
  recoverLimitMs: 60_000,
  rig: triggerRig({ health: { crashBudget: { restarts: 1 }, backoff: { baseSeconds: 0.05, maxSeconds: 0.2 } } }),
  async inject(rig) {
    const { env, worker } = pickEnv(rig);
    const siblings = rig.envsOf(worker).filter((one) => one !== env);
    const atMs = monotonicMs();
    triggerOf(rig).pull(env, 'abort', true);
    const deaths = () => rig.eventsSince(atMs, 'worker-died').filter((event) => event.worker === worker);
    const sinceSeq = new Map<number, number>();
    return {
      atMs,
      touched: rig.envsOf(worker),
      detected: () => deaths()[0]?.ms ?? null,
      recovered: () => {
        const words = rig.sampler.look();
        if (deaths().length < 2 || words.retired[env] !== 1) return null;
        for (const one of siblings) if (!sinceSeq.has(one)) sinceSeq.set(one, words.seq[one] as number);
        return siblings.every((one) => stepped(rig, one, sinceSeq.get(one) as number)) ? monotonicMs() : null;
      },
      expect: [
        { type: 'worker-died', worker, cause: /SIGABRT/, count: 2, envId: env },
        { type: 'env-failed', envId: env, cause: /not built again/ },
        { type: 'env-quarantined', envId: env },
      ],
    };
  },
});

/** A second of failures of all envs, in rows of the database: what a person could still read. */
const MOST_EVENTS = 2000;

export const logFlood: CrewChaosRow = crewRow({
  row: 52,
  fault: 'all envs throw at once, again and again',
  outcome: 'events stay bounded, the error table counts exactly, all come back once the cause is gone',
  recoverLimitMs: 60_000,
  rig: triggerRig({
    health: { envBudget: { restarts: 100_000 }, backoff: { baseSeconds: 0.05, maxSeconds: 0.2 } },
  }),
  async inject(rig) {
    const envs = rig.plan.tiers[0]?.envs ?? 0;
    const trigger = triggerOf(rig);
    const atMs = monotonicMs();
    for (let env = 0; env < envs; env++) trigger.pull(env, 'throw', true);
    const flood = 3000 * rig.context.patience;
    let calmed: Float64Array | null = null;
    let errorsAt = { count: 0, cells: 0, lost: 0 };
    return {
      atMs,
      touched: Array.from({ length: envs }, (_, env) => env),
      detected: () => rig.eventsSince(atMs, 'env-failed')[0]?.ms ?? null,
      recovered: () => {
        if (monotonicMs() - atMs < flood) return null;
        if (calmed === null) {
          for (let env = 0; env < envs; env++) trigger.clear(env);
          calmed = rig.sampler.look().seq.slice();
          return null;
        }
        const words = rig.sampler.look();
        // Two frames: the reset after the rebuild and a step of it.
        return words.seq.every((seq, env) => seq >= ((calmed as Float64Array)[env] as number) + 2) ? monotonicMs() : null;
      },
      undo: () => {
        const tables = rig.crew.errors();
        errorsAt = {
          count: tables.flatMap(({ cells }) => cells.map(({ count }) => count)).reduce((sum, count) => sum + count, 0),
          cells: new Set(tables.flatMap(({ cells }) => cells.map(({ fingerprint }) => fingerprint))).size,
          lost: tables.reduce((sum, { lost }) => sum + lost, 0),
        };
        const told = rig.eventsSince(atMs, 'env-failed').length;
        const problems: string[] = [];
        if (told > MOST_EVENTS) problems.push(`${told} failures were told one by one`);
        if (errorsAt.cells !== 1) problems.push(`${errorsAt.cells} fingerprints of one error`);
        const failures = rig.crew.health().failures.reduce((sum, count) => sum + count, 0);
        if (errorsAt.lost > 0 || errorsAt.count !== failures)
          problems.push(`${errorsAt.count} errors in the tables (${errorsAt.lost} lost), ${failures} failures counted`);
        return problems;
      },
      get expect() {
        return [
          { type: 'env-failed', cause: /triggered fault|not told one by one/, count: rig.eventsSince(atMs, 'env-failed').length },
        ] as const;
      },
    };
  },
});
