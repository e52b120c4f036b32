import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { FINAL, TERMINATED } from '../../harness/contract/frame-flags.js';
import type { Spaces } from '../../harness/contract/spaces.js';
import { type Backend, openBackend } from '../../harness/learner/backends.js';
import { accountedFrames } from '../../harness/learner/balance.js';
import { writeCheckpoint } from '../../harness/learner/checkpoint-write.js';
import { createRowIsFinite } from '../../harness/learner/finite-rows.js';
import { createGuardedUpdate, MAX_BAD_UPDATES } from '../../harness/learner/guarded-update.js';
import type { Policy } from '../../harness/learner/policy.js';
import { parseTestFault, TEST_FAULT_KINDS } from '../../harness/learner/test-fault.js';
import { createUnusableReport } from '../../harness/learner/unusable-report.js';
import type { BatchReader } from '../../harness/memory/interface.js';
import { policyOf } from './made-policy.js';
import { createTinyRig, type TinyEnv } from './tiny-rig.js';

const ENVS = 8;
const HORIZON = 4;

const spaces: Spaces = {
  observation: { obs: { dtype: 'f32', shape: [1], low: -1e30, high: 1e30 } },
  action: { type: 'discrete', n: 2 },
};

/** Episodes of eight steps; action 1 pays. */
function stepper(reward = 1): TinyEnv {
  const at = new Int32Array(ENVS);
  return {
    spaces,
    reset(i, obs) {
      at[i] = 0;
      obs[0] = 0;
    },
    step(i, action, obs) {
      at[i] = (at[i] as number) + 1;
      obs[0] = (at[i] as number) / 8;
      return { reward: (action[0] as number) * reward, flags: at[i] === 8 ? TERMINATED : 0 };
    },
  };
}

const stateOf = ({ parameters, adam, counters }: Policy): string =>
  JSON.stringify([
    parameters.map(({ data }) => [...data]),
    adam.first.map((a) => [...a]),
    adam.second.map((a) => [...a]),
    adam.step,
    counters,
  ]);

describe('an update that makes no sense', () => {
  let backend: Backend;
  before(async () => {
    backend = await openBackend('wasm');
  });
  const rigOf = (fault: string, reward?: number) =>
    createTinyRig({
      env: stepper(reward),
      envs: ENVS,
      backend,
      ppo: { horizon: HORIZON, epochs: 2, minibatch: 16, targetKl: 0 },
      fault: parseTestFault(fault),
    });

  for (const kind of ['nan-loss', 'nan-gradient', 'nan-weights', 'throw'] as const) {
    it(`is put back whole, its transitions dropped as bad-update, and training goes on: ${kind}`, { timeout: 60_000 }, async () => {
      // Goal: FAULTS 51: a step skipped or rolled back, the sums exact, the next update good.
      const rig = rigOf(`${kind}@3`);
      await rig.run({ updates: 2 });
      const good = stateOf(rig.policy());
      // The third update is bad, the fourth counts as the third good one.
      await rig.run({ updates: 1 });
      assert.equal(rig.warnings.length, 1);
      assert.match(
        rig.warnings[0] ?? '',
        /update 3 of policy .* was put back: .* 32 transitions are dropped as bad-update; bad updates in a row: 1/,
      );
      assert.equal(rig.balance.dropped['bad-update'], ENVS * HORIZON);
      assert.equal(rig.balance.trained, 3 * ENVS * HORIZON);
      assert.equal(accountedFrames(rig.balance), rig.group.scan().taken);
      assert.notEqual(stateOf(rig.policy()), good, 'the update after it trained');
      assert.equal(rig.policy().counters.updates, 3);
      const numbers = rig.policy().parameters.flatMap(({ data }) => [...data]);
      assert.ok(numbers.every(Number.isFinite));
    });
  }

  it('leaves weights, moments and counters bit by bit as they were, on the backend too', { timeout: 60_000 }, async () => {
    // Goal: a rolled-back policy acts as before, not as the half-made update left it.
    const rig = rigOf('nan-weights@3');
    await rig.run({ updates: 2 });
    const good = stateOf(rig.policy());
    const observations = [Float32Array.from({ length: 4 }, (_, i) => i / 4)];
    const answers = JSON.stringify(rig.policy().network.infer(observations, 4).outputs);
    while (rig.warnings.length === 0) {
      rig.work();
      for (let n = rig.group.turn(); n > 0; n = rig.group.turn());
      if (rig.group.agent.updateDue) await rig.group.agent.update(() => false);
    }
    assert.equal(stateOf(rig.policy()), good);
    assert.equal(JSON.stringify(rig.policy().network.infer(observations, 4).outputs), answers);
  });

  it(`ends the learner after ${MAX_BAD_UPDATES} in a row, with every frame accounted for, but not after as many apart`, {
    timeout: 60_000,
  }, async () => {
    // Goal: retries are bounded: what does not get better is restarted from a checkpoint instead of dropping data for ever.
    const rig = rigOf(`nan-loss@2-${1 + MAX_BAD_UPDATES}`);
    await assert.rejects(
      rig.run({ updates: 3 }),
      /3 updates in a row of policy .* made no sense, the last one: the loss is NaN .*ppo\.learningRate/,
    );
    assert.equal(rig.warnings.length, MAX_BAD_UPDATES);
    assert.equal(accountedFrames(rig.balance), rig.group.scan().taken);
    assert.equal(rig.balance.dropped['bad-update'], MAX_BAD_UPDATES * ENVS * HORIZON);
    const told: string[] = [];
    const guarded = createGuardedUpdate({ policy: policyOf(1, 1), onBadUpdate: (message) => told.push(message) });
    const bad = () => Promise.reject(new Error('bad'));
    for (let round = 0; round < 5; round++) {
      for (let i = 1; i < MAX_BAD_UPDATES; i++) assert.equal(await guarded(10, bad), null);
      assert.equal(await guarded(10, () => Promise.resolve('good')), 'good');
    }
    assert.equal(told.length, 5 * (MAX_BAD_UPDATES - 1));
  });

  it('is the end at once when the backend does not take the old weights either', async () => {
    // Goal: a dead backend is not asked three times; the error names both failures.
    const policy = policyOf(1, 1);
    const upload = () => {
      throw new Error('device lost');
    };
    const guarded = createGuardedUpdate({ policy: { ...policy, network: { ...policy.network, upload } }, onBadUpdate: () => undefined });
    await assert.rejects(
      guarded(10, () => Promise.reject(new Error('out of memory'))),
      /failed \(out of memory\), and the backend does not take the weights from before it \(Error: device lost\)/,
    );
  });

  it('is found without any injection when rewards overflow', { timeout: 60_000 }, async () => {
    // Goal: the guard works on the real path: returns beyond float32 make the value loss infinite.
    const rig = rigOf('', 1e38);
    await assert.rejects(rig.run({ updates: 50 }), /made no sense/);
    assert.equal(accountedFrames(rig.balance), rig.group.scan().taken);
    assert.ok(rig.policy().parameters.every(({ data }) => data.every(Number.isFinite)));
  });

  it('is never written to a checkpoint', async () => {
    // Goal: what a restart loads are numbers.
    const rig = rigOf('');
    await rig.run({ updates: 1 });
    const policy = rig.policy();
    (policy.parameters[1] as (typeof policy.parameters)[number]).data[0] = Number.POSITIVE_INFINITY;
    await assert.rejects(writeCheckpoint('/nonexistent', 'run', [policy]), /weights of policy .* hold Infinity/);
  });
});

describe('an observation that is no number', () => {
  it('is found in any float column, and in the final observation only where there is one', () => {
    // Goal: what is looked at is what is used: rows of this batch, floats, finals under FINAL.
    const plan = {
      planes: [
        { name: 'flat', dtype: 'f32', columns: 3, image: null },
        { name: 'rgb', dtype: 'u8', columns: 2, image: null },
      ],
      outputs: [
        { name: 'flat', parts: [] },
        { name: 'rgb', raw: 'rgb' },
      ],
    } as const;
    const outputs = {
      flat: Float32Array.of(1, 2, 3, 1e38, -1e38, 0, 4, Number.NaN, 6, 7, 8, Number.NEGATIVE_INFINITY),
      rgb: new Uint8Array(8),
    };
    const finals = { flat: Float32Array.from({ length: 12 }, () => Number.NaN), rgb: new Uint8Array(8) };
    const rowIsFinite = createRowIsFinite(plan, { outputs, finals } as unknown as BatchReader);
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => rowIsFinite(i, 0)),
      [true, true, false, false],
    );
    assert.equal(rowIsFinite(0, TERMINATED | FINAL), false);
  });

  it('is told at once, then in sums', () => {
    // Goal: thousands of such frames a second are one warning a minute.
    let nowMs = 0;
    const told: string[] = [];
    const report = createUnusableReport(
      () => nowMs,
      (message) => told.push(message),
    );
    for (let i = 0; i < 1000; i++) report(i);
    nowMs = 60_000;
    report(5);
    assert.equal(told.length, 2);
    assert.match(told[0] ?? '', /^env 0 returned .* \(1 such frames so far\)/);
    assert.match(told[1] ?? '', /^env 5 returned .* \(1001 such frames so far\)/);
  });
});

describe('a test fault', () => {
  it('is what its words say, or is refused', () => {
    // Goal: a typo in a chaos run is an error, not a run without its fault; absent, nothing is injected.
    assert.equal(parseTestFault(undefined), null);
    assert.equal(parseTestFault(''), null);
    for (const kind of TEST_FAULT_KINDS) {
      assert.deepEqual(parseTestFault(`${kind}@2`), { kind, first: 2, last: 2, everyLife: false });
    }
    assert.deepEqual(parseTestFault('throw@2-9*'), { kind: 'throw', first: 2, last: 9, everyLife: true });
    for (const wrong of ['nan', 'nan-loss', 'nan-loss@', 'nan-loss@0', 'throw@3-2', 'boom@1', 'throw@1 ', 'throw@-1', 'throw@1**']) {
      assert.throws(() => parseTestFault(wrong), /is no fault\. Say KIND@N/, wrong);
    }
  });
});
