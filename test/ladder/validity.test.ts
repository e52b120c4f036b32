// A tier is valid only when nothing is wrong with it; each thing that is wrong alone makes it invalid and says what to do.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Death } from '../../harness/contract/run-record.js';
import { balanceBetween, NO_COUNTS } from '../../harness/ladder/balance.js';
import { judgeRun, type RunEvidence } from '../../harness/ladder/run-validity.js';
import { deathWarnings, judgeTier, type TierEvidence } from '../../harness/ladder/tier-validity.js';

const GOOD: TierEvidence = {
  envs: 100,
  live: 100,
  quarantined: 0,
  firstFailure: null,
  plannedSeconds: 20,
  seconds: 20.01,
  cutShort: null,
  failure: null,
  learner: 'ppo',
  updates: 3,
  consumed: 5000,
  torn: 0,
  outOfOrder: 0,
  balance: balanceBetween(NO_COUNTS, NO_COUNTS),
  deaths: [],
  faultsPlanned: false,
  lostRanges: 0,
  minStepsPerEnv: 5,
  minUpdates: 2,
  leastFrames: { envId: 9, frames: 5 },
  loadReasons: [],
  scheduleLag: null,
};

const DEATH: Death = {
  role: 'worker',
  worker: 0,
  pid: 7,
  cause: 'SIGKILL',
  last_env_id: 12,
  last_operation: 'step',
  stderr_tail: '',
  restarted: true,
  run_s: 1,
};

/** Each breaks one rule: [expected code, what it does to a good tier]. */
const BREAKS: readonly (readonly [string, Partial<TierEvidence>])[] = [
  ['interrupted', { cutShort: 'interrupted', seconds: 3 }],
  ['failed', { cutShort: 'failed', failure: 'no env is live' }],
  ['not-live', { cutShort: 'start-deadline', live: 40 }],
  ['too-short', { seconds: 19.5 }],
  ['quarantined', { live: 99, quarantined: 1 }],
  ['not-live', { live: 99 }],
  ['nothing-consumed', { consumed: 0 }],
  ['no-update', { updates: 0 }],
  ['no-update', { updates: 1 }],
  ['env-stood-still', { leastFrames: { envId: 9, frames: 4 } }],
  ['not-live', { cutShort: 'slo', live: 99 }],
  ['steal', { loadReasons: [{ code: 'steal', message: 'the hypervisor took 60 %', advice: 'another machine' }] }],
  ['schedule-lag', { scheduleLag: { p99Ms: 21, limitMs: 20 } }],
  ['torn', { torn: 1 }],
  ['out-of-order', { outOfOrder: 1 }],
  ['unbalanced', { balance: { ...GOOD.balance, published: 1 } }],
  ['unbalanced', { balance: { ...GOOD.balance, trained: 1 } }],
  ['worker-died', { deaths: [DEATH] }],
  ['range-lost', { lostRanges: 1 }],
];

const codes = (tier: TierEvidence): string[] => judgeTier(tier).reasons.map((reason) => reason.code);

describe('validity of a tier', () => {
  it('calls a tier valid when every rule holds', () => {
    assert.deepEqual(judgeTier(GOOD), { verdict: 'valid', reasons: [] });
  });

  for (const [code, change] of BREAKS) {
    it(`is invalid for '${code}' alone (${Object.keys(change).join(', ')}), with one line of advice`, () => {
      const { verdict, reasons } = judgeTier({ ...GOOD, ...change });
      assert.equal(verdict, 'invalid');
      assert.ok(
        reasons.some((reason) => reason.code === code),
        JSON.stringify(reasons),
      );
      for (const reason of reasons) {
        assert.ok(reason.advice.length > 0 && !reason.advice.includes('\n'), reason.advice);
        assert.ok(reason.message.length > 0 && !reason.message.includes('\n'), reason.message);
      }
    });
  }

  it('is never made valid again by a second thing going wrong', () => {
    fc.assert(
      fc.property(fc.subarray([...BREAKS], { minLength: 1 }), (broken) => {
        const tier = broken.reduce<TierEvidence>((sum, [, change]) => ({ ...sum, ...change }), GOOD);
        assert.equal(judgeTier(tier).verdict, 'invalid');
      }),
    );
  });

  it('does not ask a learner that does not train for updates', () => {
    assert.equal(judgeTier({ ...GOOD, learner: 'random', updates: 0 }).verdict, 'valid');
  });

  it('is no less valid for an objective that ended it early: that is a verdict, not a fault of the measurement', () => {
    assert.deepEqual(judgeTier({ ...GOOD, cutShort: 'slo', seconds: 3, updates: 0, leastFrames: { envId: 0, frames: 0 } }), {
      verdict: 'valid',
      reasons: [],
    });
  });

  it('names the env that stood still, what it did, and what was planned', () => {
    const [reason] = judgeTier({ ...GOOD, leastFrames: { envId: 12, frames: 0 } }).reasons;
    assert.match(reason?.message ?? '', /^env 12 published 0 frames in 20\.0 s, at least 5 per env were planned$/);
  });

  it('takes deaths for granted where the plan asks for faults', () => {
    assert.equal(judgeTier({ ...GOOD, deaths: [DEATH], faultsPlanned: true }).verdict, 'valid');
  });

  it('tells a death that ended the run once, as that death', () => {
    assert.deepEqual(
      codes({
        ...GOOD,
        cutShort: 'failed',
        failure: 'the learner died: page\nafter page',
        deaths: [{ ...DEATH, role: 'learner', worker: null, restarted: false }],
      }),
      ['learner-died'],
    );
  });
});

const DIFFERS = { code: 'node-differs', message: 'Node 22 ran, the plan expects 20', advice: 'run with 20' };

const RUN: RunEvidence = {
  plannedTiers: 1,
  tiers: [{ label: '100', validity: judgeTier(GOOD) }],
  interrupted: false,
  aborted: false,
  notAsPlanned: [],
  failure: null,
  balance: GOOD.balance,
  recordLost: null,
  deathsOutside: [],
  faultsPlanned: false,
};

describe('validity of a run', () => {
  it('is valid when all tiers ran, are valid, and the sums are right', () => {
    assert.equal(judgeRun(RUN).verdict, 'valid');
  });

  for (const [code, change] of [
    ['torn', { tiers: [{ label: '100', validity: judgeTier({ ...GOOD, torn: 2 }) }] }],
    ['incomplete', { plannedTiers: 2 }],
    ['node-differs', { notAsPlanned: [DIFFERS] }],
    ['interrupted', { interrupted: true }],
    ['failed', { failure: 'boom' }],
    ['unbalanced', { balance: null }],
    ['unbalanced', { balance: { ...GOOD.balance, in_flight: 1 } }],
    ['record-lost', { recordLost: 'disk full' }],
    ['learner-died', { deathsOutside: [{ ...DEATH, role: 'learner', worker: null }] }],
  ] as const satisfies readonly (readonly [string, Partial<RunEvidence>])[]) {
    it(`is invalid for '${code}' alone (${Object.keys(change).join(', ')})`, () => {
      const { verdict, reasons } = judgeRun({ ...RUN, ...change });
      assert.equal(verdict, 'invalid');
      assert.deepEqual(
        reasons.map((reason) => reason.code),
        [code],
      );
    });
  }

  it('does not miss the tiers that an objective kept from running', () => {
    assert.equal(judgeRun({ ...RUN, plannedTiers: 4, aborted: true }).verdict, 'valid');
  });

  it('says what several tiers say once', () => {
    const quarantined = judgeTier({ ...GOOD, deaths: [DEATH] });
    const { reasons } = judgeRun({
      ...RUN,
      plannedTiers: 2,
      tiers: [
        { label: 'a', validity: quarantined },
        { label: 'b', validity: quarantined },
      ],
    });
    assert.equal(reasons.length, 1);
  });
});

describe('a death with a known cause', () => {
  // Goal: a crash that was named and recovered from costs no validity; an unknown hand, a lost range or a lost learner does.
  const EXPLAINED: Death = { ...DEATH, restarted: true, cause: 'SIGSEGV' };

  it('is a warning when its range came back', () => {
    // As they stand in deaths: signals, exits, and the words of watch, detector and thread host.
    const causes = [
      'SIGSEGV',
      'exit code 1',
      'deadline',
      'frozen',
      'blocked',
      'oom',
      'heartbeat',
      'its memory is damaged',
      'thread host: SIGSEGV',
    ];
    for (const cause of causes) assert.equal(judgeTier({ ...GOOD, deaths: [{ ...EXPLAINED, cause }] }).verdict, 'valid', cause);
    assert.deepEqual(
      deathWarnings({ deaths: [EXPLAINED], faultsPlanned: false }).map(({ code }) => code),
      ['worker-restarted'],
    );
  });

  it('is a reason when the range did not come back, the cause is unknown, or it was the learner', () => {
    for (const death of [
      { ...EXPLAINED, restarted: false },
      { ...EXPLAINED, cause: 'SIGKILL' },
      { ...EXPLAINED, cause: 'thread host: SIGKILL' },
      { ...EXPLAINED, role: 'learner' as const, worker: null },
    ]) {
      assert.equal(judgeTier({ ...GOOD, deaths: [death] }).verdict, 'invalid', death.cause);
      assert.deepEqual(deathWarnings({ deaths: [death], faultsPlanned: false }), []);
    }
  });
});
