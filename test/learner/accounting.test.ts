import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ABANDONED,
  AUTORESET_MODES,
  type AutoresetMode,
  DONE,
  FINAL,
  FIRST,
  QUARANTINED,
  TERMINATED,
  TRUNCATED,
} from '../../harness/contract/frame-flags.js';
import type { ActorCritic } from '../../harness/learner/actor-critic.js';
import { createAdam } from '../../harness/learner/adam.js';
import { accountedFrames, createBalance } from '../../harness/learner/balance.js';
import { headFor } from '../../harness/learner/head-for.js';
import { createPhaseClock } from '../../harness/learner/phase-clock.js';
import { createPlainAgent } from '../../harness/learner/plain-agent.js';
import type { Policy } from '../../harness/learner/policy.js';
import { createPpoAgent } from '../../harness/learner/ppo-agent.js';
import { createShuffler } from '../../harness/learner/shuffler.js';
import { near } from './near.js';
import { createScriptedReader, OBSERVATION, type ScriptedFrame } from './scripted-reader.js';
import { tinyPpo } from './tiny-rig.js';

const ACTION = { type: 'discrete', n: 2 } as const;
const GAMMA = 0.9;
const HORIZON = 3;

/** V of an observation, fixed for all time: every return can be worked out from the frames alone. */
const valueAt = (row: number, frame: number): number => 0.25 * row + 0.125 * frame + 1;

interface TrainedSample {
  readonly row: number;
  readonly frame: number;
  readonly target: number;
}

/** A policy without a backend: it records what it is trained on. With lambda 0 each target is r + gamma V(next), whatever surrounds it. */
function recordingPolicy(trained: TrainedSample[], targetKl = 0): Policy {
  const head = headFor(ACTION);
  const values = (planes: readonly Float32Array[], count: number) =>
    Float32Array.from({ length: count }, (_, i) => valueAt(planes[0]?.[2 * i] as number, planes[0]?.[2 * i + 1] as number));
  const network: ActorCritic = {
    backend: null as never,
    parameters: [],
    infer: (planes, count) => ({ outputs: new Float32Array(2 * count), values: values(planes, count) }),
    gradients(planes, count, outputGradient) {
      const dValues = new Float32Array(count);
      const found = values(planes, count);
      outputGradient(new Float32Array(2 * count), found, new Float32Array(2 * count), dValues);
      // dValues = (V - target) / count with valueCoef 1.
      for (let i = 0; i < count; i++) {
        trained.push({
          row: planes[0]?.[2 * i] as number,
          frame: planes[0]?.[2 * i + 1] as number,
          target: (found[i] as number) - (dValues[i] as number) * count,
        });
      }
      return [];
    },
    upload: () => undefined,
    dispose: () => undefined,
  };
  const config = tinyPpo({ horizon: HORIZON, epochs: 1, minibatch: 5, gamma: GAMMA, lambda: 0, valueCoef: 1, readyShare: 0.5, targetKl });
  return {
    signature: 's',
    config,
    plan: {
      encoder: 'mlp',
      planes: [{ name: OBSERVATION, dtype: 'f32', columns: 2, image: null }],
      outputs: [{ name: OBSERVATION, parts: [] }],
    },
    head,
    parameters: [],
    free: new Float32Array(0),
    network,
    adam: createAdam([]),
    shuffler: createShuffler(1),
    noiseKey: 1,
    counters: { updates: 0, trained: 0, gradientSteps: 0 },
  };
}

/** Any byte of flags: also combinations that no worker would write. */
const wildFlags = fc
  .array(fc.constantFrom(0, 0, 0, TERMINATED, TRUNCATED, FIRST, FINAL, ABANDONED, QUARANTINED), { maxLength: 3 })
  .map((bits) => bits.reduce((all: number, bit) => all | bit, 0));

/** Even over 0..1: fc.double prefers tiny numbers. */
const event = fc.integer({ min: 0, max: 999 }).map((n) => n / 1000);

/** Frames as a worker writes them: episodes of random length, ended either way, now and then lost, seldom quarantined (and then released). */
function workerFrames(mode: AutoresetMode, events: readonly number[]): number[] {
  const flags = [FIRST];
  let done = false;
  for (const event of events) {
    if (event < 0.02) {
      flags.push(ABANDONED | QUARANTINED);
      if (event < 0.01) break;
      flags.push(FIRST | ABANDONED);
      done = false;
      continue;
    }
    if (event < 0.1) flags.push(FIRST | ABANDONED);
    else if (done) flags.push(FIRST);
    else if (event < 0.5) flags.push(0);
    else {
      const end = event < 0.7 ? TERMINATED : event < 0.9 ? TRUNCATED : DONE;
      flags.push(mode === 'same-step' ? end | FINAL : end);
    }
    done = mode !== 'same-step' && ((flags.at(-1) as number) & DONE) !== 0;
  }
  return flags;
}

async function play(scripts: ScriptedFrame[][], mode: AutoresetMode, batchLimit: number) {
  const unusable: number[] = [];
  const scripted = createScriptedReader(scripts, batchLimit);
  const balance = createBalance();
  const trained: TrainedSample[] = [];
  const agent = createPpoAgent({
    policy: recordingPolicy(trained),
    action: ACTION,
    autoreset: mode,
    batchLimit,
    reader: scripted.reader,
    balance,
    clock: createPhaseClock(() => 0),
    pause: () => Promise.resolve(),
    onBadUpdate: (message) => assert.fail(message),
    onUnusable: (envId) => unusable.push(envId),
  });
  agent.addRows(0, scripts.length, 0);
  for (;;) {
    const count = scripted.reader.collect(batchLimit);
    if (count > 0) agent.answer(count);
    assert.equal(accountedFrames(balance), scripted.taken(), 'every frame taken has one fate');
    if (agent.updateDue) await agent.update(() => false);
    else if (count === 0) break;
    assert.equal(accountedFrames(balance), scripted.taken(), 'an update loses and invents nothing');
  }
  agent.finish();
  return {
    unusable,
    balance,
    trained,
    taken: scripted.taken(),
    left: scripted.left(),
    commanded: scripted.commanded,
    liveRows: agent.liveRows,
  };
}

/** V of what follows frame `frame` of a row, when that ended with `flags`. */
function nextValue(mode: AutoresetMode, row: number, frame: number, flags: number): number {
  if ((flags & TERMINATED) !== 0) return 0;
  return valueAt(row, (flags & DONE) === TRUNCATED && mode === 'same-step' ? frame + 0.5 : frame + 1);
}

const scriptsOf = (flags: number[][]): ScriptedFrame[][] =>
  flags.map((row, r) => row.map((flag, i) => ({ flags: flag, reward: (flag & FIRST) !== 0 ? 0 : r + 0.5 * i })));

describe('accounting of frames', () => {
  it('gives each frame exactly one fate under any sequence of flags, also impossible ones', { timeout: 60_000 }, async () => {
    // Goal: no sequence of frames can be lost, counted twice, or stop the learner.
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...AUTORESET_MODES),
        fc.array(fc.array(wildFlags, { maxLength: 30 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        async (mode, flags, batchLimit) => {
          const { balance, taken } = await play(scriptsOf(flags), mode, batchLimit);
          assert.equal(balance.pending, 0);
          assert.equal(accountedFrames(balance), taken);
        },
      ),
      { numRuns: 1500, examples: [['next-step', [[0, 0, 0, 0, ABANDONED | TERMINATED], [0, 0, TERMINATED, 0, 0], [0], []], 1]] },
    );
  });

  it('trains exactly the transitions that happened, each once, with the right target', { timeout: 60_000 }, async () => {
    // Goal: a transition is (frame k, answered) -> frame k+1 that is no reset and not lost; targets bootstrap from V(final) on
    // truncation only, in every autoreset mode; held rows go on from the observation they were held at.
    const reached = { transitions: 0, cut: 0, died: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...AUTORESET_MODES),
        fc.array(fc.array(event, { maxLength: 40, size: 'max' }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        async (mode, events, batchLimit) => {
          const scripts = scriptsOf(events.map((row) => workerFrames(mode, row)));
          const { balance, trained } = await play(scripts, mode, batchLimit);
          assert.equal(new Set(trained.map(({ row, frame }) => `${row}/${frame}`)).size, trained.length, 'no transition is trained twice');
          assert.equal(balance.trained, trained.length);
          for (const { row, frame, target } of trained) {
            const after = scripts[row]?.[frame + 1] as ScriptedFrame;
            assert.equal(after.flags & (FIRST | ABANDONED | QUARANTINED), 0, `row ${row}, frame ${frame}: what followed is no step`);
            const next = nextValue(mode, row, frame, after.flags);
            reached.transitions++;
            if ((after.flags & DONE) === TRUNCATED) reached.cut++;
            if (next === 0) reached.died++;
            near(target, after.reward + GAMMA * next, 1e-3, `${mode}: target of row ${row}, frame ${frame}`);
          }
          if (scripts.flat().every(({ flags }) => (flags & ABANDONED) === 0)) {
            assert.equal(balance.dropped.abandoned + balance.dropped.quarantined, 0, 'where nothing is lost, nothing is dropped as lost');
          }
          const resets = scripts.flat().filter(({ flags }) => (flags & FIRST) !== 0).length;
          assert.ok(balance.dropped.reset <= resets, 'only reset frames count as resets');
        },
      ),
      { numRuns: 300 },
    );
    assert.ok(
      Math.min(reached.cut, reached.died) > 300 && reached.transitions > 3000,
      `the scripts reach all cases: ${JSON.stringify(reached)}`,
    );
  });

  it('trains on nothing that an observation without numbers touches, and goes on after it', { timeout: 60_000 }, async () => {
    // Goal: an env that returns NaN between two checks of its worker spoils its own transitions, not the update of thousands.
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...AUTORESET_MODES),
        fc.array(fc.array(fc.tuple(event, event), { maxLength: 40, size: 'max' }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 7 }),
        async (mode, events, batchLimit) => {
          const scripts = events.map((row, r) =>
            (
              scriptsOf([
                workerFrames(
                  mode,
                  row.map(([each]) => each),
                ),
              ])[0] as ScriptedFrame[]
            ).map((frame, i) => ({
              ...frame,
              reward: (frame.flags & FIRST) !== 0 ? 0 : r + 0.5 * i,
              spoilt: (frame.flags & QUARANTINED) === 0 && (row[i]?.[1] ?? 1) < 0.1,
            })),
          );
          const { balance, trained, taken, unusable } = await play(scripts, mode, batchLimit);
          assert.ok(unusable.length <= scripts.flat().filter(({ spoilt }) => spoilt).length);
          assert.equal(accountedFrames(balance), taken);
          for (const { row, frame, target } of trained) {
            assert.ok(Number.isFinite(target), `row ${row}, frame ${frame}: a target that is no number`);
            assert.ok(scripts[row]?.[frame]?.spoilt === false && scripts[row]?.[frame + 1]?.spoilt === false);
            const after = scripts[row]?.[frame + 1] as ScriptedFrame;
            near(
              target,
              after.reward + GAMMA * nextValue(mode, row, frame, after.flags),
              1e-3,
              `${mode}: target of row ${row}, frame ${frame}`,
            );
          }
          reached += trained.length;
        },
      ),
      { numRuns: 400 },
    );
    assert.ok(reached > 400, `${reached} transitions were trained between the spoilt ones`);
  });

  it('commands a reset after every ended episode when autoreset is disabled, and never else', async () => {
    // Goal: the learner drives episodes in disabled mode; the other modes never see a command.
    const flags = [FIRST, 0, TRUNCATED, FIRST, TERMINATED, FIRST, 0];
    for (const mode of AUTORESET_MODES) {
      const { commanded } = await play(scriptsOf([flags]), mode, 1);
      assert.deepEqual(commanded, mode === 'disabled' ? [0, 0] : [], mode);
    }
  });

  it('stops counting a quarantined env as live, so that the others do not wait for it', async () => {
    // Goal: readyShare is a share of the envs that still run.
    const steps = Array.from({ length: 8 }, () => 0);
    const { balance, liveRows, left } = await play(
      scriptsOf([
        [FIRST, ...steps],
        [FIRST, 0, ABANDONED | QUARANTINED],
      ]),
      'next-step',
      4,
    );
    assert.equal(liveRows, 1);
    assert.equal(left, 0);
    assert.deepEqual(
      { ...balance.dropped, trained: balance.trained },
      { reset: 2, abandoned: 0, quarantined: 2, unfinished: 2, 'learner-died': 0, 'bad-update': 0, trained: 6 },
    );
  });

  it('counts what an early stop leaves out of the first epoch apart from what was trained', async () => {
    // Goal: trained means that a gradient was taken. KL stop: superseded; stop of the run: unfinished.
    const scripted = createScriptedReader(scriptsOf([[FIRST, 0, 0, 0]]), 1);
    const balance = createBalance();
    const trained: TrainedSample[] = [];
    const agent = createPpoAgent({
      policy: recordingPolicy(trained),
      action: ACTION,
      autoreset: 'next-step',
      batchLimit: 1,
      reader: scripted.reader,
      balance,
      clock: createPhaseClock(() => 0),
      pause: () => Promise.resolve(),
      onBadUpdate: (message) => assert.fail(message),
      onUnusable: (envId) => assert.fail(`env ${envId}`),
    });
    agent.addRows(0, 1, 0);
    for (let i = 0; i < 4; i++) agent.answer(scripted.reader.collect(1));
    await agent.update(() => true);
    assert.deepEqual(
      { trained: balance.trained, unfinished: balance.dropped.unfinished, pending: balance.pending },
      { trained: 0, unfinished: 3, pending: 0 },
    );
  });

  it('counts every step as evaluated when nothing learns, and answers what expects an answer', async () => {
    // Goal: `none` and `random` balance too, in all modes.
    for (const mode of AUTORESET_MODES) {
      for (const kind of ['none', 'random'] as const) {
        const scripted = createScriptedReader(
          scriptsOf([
            [FIRST, 0, TRUNCATED, FIRST, 0],
            [FIRST, 0, FIRST | ABANDONED, ABANDONED | QUARANTINED],
          ]),
          2,
        );
        const balance = createBalance();
        const agent = createPlainAgent({
          mode: kind,
          action: ACTION,
          autoreset: mode,
          batchLimit: 2,
          noiseKey: 1,
          reader: scripted.reader,
          balance,
          clock: createPhaseClock(() => 0),
        });
        agent.addRows(0, 2, 0);
        for (let count = scripted.reader.collect(2); count > 0; count = scripted.reader.collect(2)) agent.answer(count);
        assert.equal(scripted.left(), 0, 'all frames came, so all answers were given');
        assert.deepEqual(
          { evaluated: balance.evaluated, ...balance.dropped },
          { evaluated: 4, reset: 4, abandoned: 0, quarantined: 1, unfinished: 0, 'learner-died': 0, 'bad-update': 0 },
        );
        assert.deepEqual(scripted.commanded, mode === 'disabled' ? [0] : []);
        assert.equal(agent.liveRows, 1);
      }
    }
  });
});
