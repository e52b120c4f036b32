import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkKind } from '../../harness/envs/check.js';
import { formatCheckReport } from '../../harness/envs/format-check.js';
import { createRegistry, type ResolvedKind, resolveKind } from '../../harness/envs/registry.js';
import { brokenKind, type Hooks } from './broken-kinds.js';

const registry = await createRegistry();
const FAST = { speedSeconds: 0.01 };
const limited = (hooks: Hooks, limit = 6): ResolvedKind => brokenKind(hooks, { timeLimit: () => limit });
const vector = (slot: { obs: Readonly<Record<string, unknown>> }): Float32Array => slot.obs.vector as Float32Array;

/** Kinds that break one rule each, and the line that must say so. */
const MUTANTS: readonly (readonly [string, string, () => ResolvedKind])[] = [
  [
    'leaves an element unwritten in step',
    'writes every element',
    () => {
      const kind = brokenKind({}, { timeLimit: () => 6 });
      const create = kind.kind.create;
      return {
        ...kind,
        kind: {
          ...kind.kind,
          create: (context) => ({
            ...create(context),
            step: (slot) => {
              vector(slot).fill(0.5, 0, 3);
              return { reward: 1, terminated: false, truncated: false };
            },
          }),
        },
      };
    },
  ],
  [
    'draws from Math.random',
    'same seed, same trajectory',
    () =>
      limited({
        step: (slot, result) => {
          vector(slot)[1] = Math.random();
          return result;
        },
      }),
  ],
  [
    'keys its state by slot instead of env id',
    'any split of ids',
    () =>
      limited({
        reset: (slot) => {
          vector(slot)[0] = slot.index;
        },
      }),
  ],
  [
    'shares state between envs',
    'any order of arrival',
    () => {
      let turn = 0;
      let owner = -1;
      return limited({
        construct: () => {
          turn = 0;
        },
        step: (slot, result) => {
          // Counts changes of env: the same in every run, as long as the envs come in the same order.
          if (owner !== slot.envId) turn++;
          owner = slot.envId;
          vector(slot)[1] = (turn % 9) + slot.envId / 100;
          return result;
        },
      });
    },
  ],
  [
    'steps otherwise in stepMany',
    'stepMany equals step',
    () =>
      limited({
        stepMany: (first, count, { range }) => {
          for (let i = first; i < first + count; i++) {
            (range.obs.vector as Float32Array).fill(0.5, (range.cell[i] as number) * 4, (range.cell[i] as number) * 4 + 4);
            range.reward[i] = 1 + 1e-12;
          }
        },
      }),
  ],
  ['returns a reward of NaN', 'contract', () => limited({ step: (_slot, result) => ({ ...result, reward: Number.NaN }) })],
  [
    'throws in close',
    'contract',
    () =>
      limited({
        close: () => {
          throw new Error('stuck');
        },
      }),
  ],
  [
    'throws in create',
    'contract',
    () =>
      brokenKind(
        {},
        {
          create: () => {
            throw new Error('no licence');
          },
        },
      ),
  ],
];

describe('env check', () => {
  for (const [name, config] of [
    ['cartpole', {}],
    ['mountain-car', {}],
    ['mountain-car-continuous', {}],
    ['acrobot', {}],
    ['pendulum', {}],
    ['field', {}],
    ['noop', {}],
    ['probe', { episodeSteps: 4 }],
    ['probe', { episodeSteps: 4, many: true }],
    ['probe', { terminateAt: 3, reuseBuffer: true }],
    ['fault', { kind: 'cartpole', schedule: [{ fault: 'slow', probability: 0.01 }] }],
  ] as const) {
    it(`passes ${name} ${JSON.stringify(config)}`, { timeout: 60_000 }, async () => {
      // Goal: every built-in kind keeps the contract it sets for others; stepMany equals step bit for bit.
      const report = await checkKind(resolveKind(registry, name, config), FAST);
      assert.ok(report.ok, formatCheckReport(report));
      assert.ok((report.stepsPerSecond as number) > 0);
      const skipped = report.lines.filter((line) => line.status === 'skip').map((line) => line.name);
      if (name === 'noop') assert.equal(skipped.length, 3, 'noop never ends an episode');
      else
        assert.deepEqual(
          skipped.filter((line) => line.startsWith('episode')),
          [],
        );
      if (!['probe', 'fault'].includes(name)) assert.ok(!skipped.includes('stepMany equals step'));
    });
  }

  for (const [what, line, make] of MUTANTS) {
    it(`fails a kind that ${what}`, { timeout: 60_000 }, async () => {
      // Goal: the check that guards this rule says so.
      const report = await checkKind(make(), FAST);
      assert.equal(report.ok, false);
      const failed = report.lines.filter((found) => found.status === 'fail').map((found) => found.name);
      assert.ok(failed.includes(line), `${failed.join()} \n${formatCheckReport(report)}`);
      assert.match(formatCheckReport(report), /breaks the contract/);
    });
  }

  it('says why no episode edge was seen', async () => {
    // Goal: whoever reads "skip" learns whether that is the kind's nature or the length of the check.
    const reasons = async (kind: ResolvedKind, steps: number): Promise<string[]> =>
      (await checkKind(kind, { ...FAST, steps })).lines
        .filter(({ status, name }) => status === 'skip' && name.startsWith('episode'))
        .map((line) => line.detail);
    const endless = await reasons(resolveKind(registry, 'noop'), 12);
    assert.equal(endless.length, 3);
    for (const reason of endless) assert.match(reason, /within 12 steps of random actions and the kind has no time limit/);
    const cut = await reasons(limited({}, 30), 12);
    assert.equal(cut.length, 3);
    for (const reason of cut) assert.match(reason, /within 12 steps of random actions, below the time limit of 30/);
  });

  it('passes the well-behaved kind that the mutants are made from', async () => {
    // Goal: the mutants fail for their mutation only.
    const report = await checkKind(limited({}), FAST);
    assert.ok(report.ok, formatCheckReport(report));
  });
});
