// "SCHED_FIFO 50 cut hangs from 1.2 to 0.03 per thousand": the same crew (workers on every core, a PPO learner) beside other work that fills the
// machine, scheduled as usual, with nice values, and with SCHED_FIFO for the workers. How many steps hang, and what the learner still gets done.
import { availableParallelism } from 'node:os';
import { type BenchCrew, raiseBenchCrew } from '../../bench/crew-rig.js';
import { measureTrained, nextUpdate } from '../../bench/trained-rate.js';
import { commandProblem } from '../../chaos/machine-needs.js';
import { mergePairs, percentilesOf, sampleCount } from '../../contract/latency.js';
import { type Plan, planSchema, resolvePlan } from '../../contract/plan.js';
import { createRegistry, resolveKind } from '../../envs/registry.js';
import type { CrewEvent } from '../../supervisor/crew.js';
import { entryMessage } from '../../supervisor/entry-message.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { startOtherWork } from '../rigs/other-work.js';

/** The account's mean step takes about 20 ms: five times that is a hang. */
const HANG_MS = 100;

interface Sizes {
  readonly workers: number;
  readonly envs: number;
  readonly stepUs: number;
  readonly hogs: number;
  readonly windowMs: number;
}

const SCHEDULING: Readonly<Record<'default' | 'nice' | 'fifo', Partial<Plan['scheduling']>>> = {
  default: {},
  nice: { nice: { learner: -10, worker: -5 } },
  fifo: { fifo: 50 },
};
type Side = keyof typeof SCHEDULING;

/** Rejects when the kernel did not grant what the side is about. */
async function raise(side: Side, { workers, envs, stepUs }: Sizes, seed: number): Promise<BenchCrew> {
  const config = { kind: 'cartpole', schedule: [{ fault: 'slow', micros: stepUs }] };
  const plan = resolvePlan(
    planSchema.parse({
      name: `claims ${side}`,
      tiers: [envs],
      mix: { steps: { kind: 'fault', share: 1, config } },
      workers,
      seed,
      backend: 'wasm',
      ppo: { horizon: 32, minibatch: 256, epochs: 2, hidden: [32, 32] },
      scheduling: SCHEDULING[side],
      // Whoever is late here is late because of us.
      health: { frozenSeconds: 60, blockedSeconds: 60 },
    }),
    availableParallelism(),
  );
  const registry = await createRegistry();
  const entries = plan.mix.map((entry) => entryMessage(plan, entry, resolveKind(registry, entry.kind, entry.config)));
  const refusals: string[] = [];
  const crew = await raiseBenchCrew({ plan, entries }, 20, ({ type, message, detail }: CrewEvent) => {
    const grants = (type === 'scheduling' ? detail?.['grants'] : undefined) as readonly { readonly why_not: string | null }[] | undefined;
    if (grants?.some(({ why_not }) => why_not !== null) === true) refusals.push(message);
  });
  if (refusals[0] === undefined) return crew;
  await crew.stop();
  throw new Error(refusals[0]);
}

async function measure(side: Side, sizes: Sizes, seed: number): Promise<Taken> {
  const crew = await raise(side, sizes, seed);
  try {
    const work = await startOtherWork(sizes.hogs);
    try {
      const first = await nextUpdate(crew, 0);
      await crew.crew.measure(0);
      const { sps, last } = await measureTrained(crew, first, sizes.windowMs);
      const { valueUs, count, maxUs } = last.latency;
      const pairs = mergePairs([{ value_us: valueUs, count }]);
      const steps = sampleCount(pairs);
      const late = sampleCount({
        value_us: pairs.value_us,
        count: pairs.count.map((n, i) => ((pairs.value_us[i] ?? 0) > HANG_MS * 1000 ? n : 0)),
      });
      return {
        'hangs-per-1000': (1000 * late) / steps,
        'p99-ms': (percentilesOf(pairs, maxUs).p99 ?? Number.NaN) / 1000,
        'trained-sps': sps,
        'sampled-sps': (last.published - first.published) / ((last.monotonicMs - first.monotonicMs) / 1000),
      };
    } finally {
      await work.end();
    }
  } finally {
    await crew.stop();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const cores = availableParallelism();
  const sizes = context.pick<Sizes>({
    full: { workers: cores, envs: 24 * cores, stepUs: 500, hogs: cores, windowMs: 5000 },
    quick: { workers: cores, envs: 24 * cores, stepUs: 500, hogs: cores, windowMs: 2000 },
    tiny: { workers: 1, envs: 8, stepUs: 100, hogs: 1, windowMs: 200 },
  });
  const take = (side: Side) => (repeat: number) => measure(side, sizes, context.seed + repeat);
  const samples = await context.interleave({ default: take('default'), nice: take('nice'), fifo: take('fifo') });
  return {
    samples,
    conditions: {
      crew: `${sizes.workers} workers (one for each core), ${sizes.envs} envs whose steps take ${sizes.stepUs} us, a PPO learner on wasm`,
      'other work': `${sizes.hogs} processes that burn CPU at nice 0`,
      hang: `a step that takes more than ${HANG_MS} ms from its action to its frame; the account does not say what it calls a hang`,
      window: `at least ${sizes.windowMs / 1000} s between two updates`,
    },
    notes: [
      "Real-time tasks are above every nice value and weight; what keeps a machine alive under them is the kernel's throttle of 95 % of each second.",
    ],
  };
}

export const fifoHang: Claim = {
  id: 'fifo-hang',
  said: { text: 'SCHED_FIFO with priority 50 for every worker cut hangs from 1.2 to 0.03 per thousand', value: 0.03, unit: 'per thousand' },
  question: 'How many steps hang beside other work, and how much does the learner still train?',
  register: () => ({
    sides: [
      { name: 'default', role: 'reference', what: 'everybody as the kernel schedules them' },
      { name: 'nice', role: 'envladder', what: 'nice -5 for workers, -10 for the learner: larger weights, nobody starves' },
      { name: 'fifo', role: 'account', what: 'SCHED_FIFO 50 for every worker, the learner as usual' },
    ],
    metrics: [
      { id: 'hangs-per-1000', name: `steps over ${HANG_MS} ms`, unit: 'per thousand', better: 'lower', kind: 'count' },
      { id: 'trained-sps', name: 'trained', unit: 'steps/s', better: 'higher', kind: 'rate' },
      { id: 'p99-ms', name: 'step time, 99th percentile', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'sampled-sps', name: 'sampled', unit: 'steps/s', better: 'higher', kind: 'rate' },
    ],
    rule: 'held when FIFO leaves at most half of the hangs of the default and the learner still trains at nine tenths of its rate',
    rules: [
      { type: 'ratio', metric: 'hangs-per-1000', side: 'fifo', to: 'default', relation: 'at-most', bound: 0.5 },
      { type: 'ratio', metric: 'trained-sps', side: 'fifo', to: 'default', relation: 'at-least', bound: 0.9 },
    ],
    tests: 'direction',
    method:
      "The same crew is raised anew for each repeat, beside the same other work; latencies of all steps are counted in one histogram from the learner's action to the frame.",
  }),
  needs: () => commandProblem('chrt', ['-f', '50', 'true']),
  run,
};
