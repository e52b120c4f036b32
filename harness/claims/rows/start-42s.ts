// "7,000 environments start in 42 s by groups that wake after 1,000 steps, instead of 116 minutes": groups as told, all envs at once with a bound
// on constructors in work, and one after the other, on the same envs with constructors that wait 1 ms or 100 ms.
import { fileURLToPath } from 'node:url';
import type { PlanInput } from '../../contract/plan.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { claimFile } from '../entry-url.js';
import { runLadderOf } from '../rigs/ladder-run.js';

/** The account's group. */
const GROUP = 70;
const GROUPS = 4;
const BOOT_MS = [1, 100] as const;

function planOf(context: ClaimContext, side: string, bootMs: number): PlanInput {
  const size = context.pick({ full: GROUP, quick: 20, tiny: 3 });
  const groups = context.pick({ full: GROUPS, quick: GROUPS, tiny: 2 });
  const boot = context.pick({ full: bootMs, quick: bootMs, tiny: Math.min(bootMs, 5) });
  return {
    name: `start-42s ${side}`,
    tiers: [size * groups],
    seconds: 0.5,
    mix: { 'slow-boot': { share: 1, config: { bootMs: boot } } },
    module: fileURLToPath(claimFile('kinds/slow-boot')),
    workers: 1,
    learner: 'random',
    startDeadlineSeconds: 300,
    constructParallel: side === 'serial' ? 1 : 16,
    ...(side === 'groups'
      ? { groups: { start: 'groups' as const, size, wakeSteps: context.pick({ full: 1000, quick: 1000, tiny: 20 }) } }
      : {}),
  };
}

async function takeSide(context: ClaimContext, side: string): Promise<Taken> {
  const taken: Record<string, number> = {};
  for (const bootMs of BOOT_MS) {
    const tier = (await runLadderOf(context, planOf(context, side, bootMs))).tiers[0];
    if (typeof tier?.time_to_all_live_s !== 'number') throw new Error(`${side}: not all envs were live in time`);
    taken[`live-${bootMs}ms`] = tier.time_to_all_live_s;
    // A first batch that came before the learner's clock had a tick is a batch at once.
    taken[`first-${bootMs}ms`] = tier.time_to_first_batch_s ?? tier.time_to_all_live_s;
  }
  return taken;
}

async function run(context: ClaimContext): Promise<Measured> {
  const samples = await context.interleave({
    groups: () => takeSide(context, 'groups'),
    parallel: () => takeSide(context, 'parallel'),
    serial: () => takeSide(context, 'serial'),
  });
  const size = context.pick({ full: GROUP, quick: 20, tiny: 3 });
  const groups = context.pick({ full: GROUPS, quick: GROUPS, tiny: 2 });
  return {
    samples,
    conditions: {
      envs: `${size * groups}: ${groups} groups of ${size}; the account has 100 groups of 70`,
      constructors: 'wait 1 ms or 100 ms, off the CPU, as a simulator that boots',
      steps:
        'as fast as one worker goes, which is the best case for groups: at the 18.3 ms a step of the account, 1,000 steps are 18.3 s a group',
    },
    notes: [
      "The account's own figures: 7,000 constructors of 100 ms one after the other are 11.7 min, not 116; 100 groups that wait for 1,000 steps of 18.3 ms each are 30.5 min, not 42 s.",
    ],
  };
}

export const start42s: Claim = {
  id: 'start-42s',
  said: { text: '7,000 environments start in 42 s by groups that wake after 1,000 steps, instead of 116 minutes', value: 42, unit: 's' },
  question: 'Do groups that wait for each other bring all environments up sooner than starting them side by side?',
  register: () => ({
    sides: [
      {
        name: 'groups',
        role: 'account',
        what: 'a group is built when every env of the one before it has made 1,000 steps; within a group 16 constructors at once',
      },
      { name: 'parallel', role: 'envladder', what: 'all envs, at most 16 constructors in work at once; each steps as soon as it is built' },
      { name: 'serial', role: 'reference', what: 'all envs, one constructor after the other' },
    ],
    metrics: BOOT_MS.toReversed().flatMap((ms) => [
      { id: `live-${ms}ms`, name: `until all live, constructors of ${ms} ms`, unit: 's', better: 'lower' as const, kind: 'time' as const },
      {
        id: `first-${ms}ms`,
        name: `until the first batch, constructors of ${ms} ms`,
        unit: 's',
        better: 'lower' as const,
        kind: 'time' as const,
      },
    ]),
    rule: 'held when groups have all envs live sooner than one after the other and no later than side by side, with constructors of 100 ms',
    rules: [
      { type: 'ratio', metric: 'live-100ms', side: 'groups', to: 'parallel', relation: 'at-most', bound: 1 },
      { type: 'ratio', metric: 'live-100ms', side: 'groups', to: 'serial', relation: 'at-most', bound: 1 },
    ],
    tests: 'direction',
    method:
      'Each repeat is a ladder of its own processes, one worker, random actions; times are from its record, from the tier being asked for.',
  }),
  needs: () => null,
  run,
};
