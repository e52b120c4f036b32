// The judge of one worker, on progress lines made by hand: what is held against whom, and what is not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Progress } from '../../harness/memory/control.js';
import {
  BEAT_MS,
  createLivenessJudge,
  type JudgeLimits,
  type Judgement,
  MOST_COUNTED_MS,
  STALE_MS,
} from '../../harness/supervisor/liveness-judge.js';

const LIMITS: JudgeLimits = { frozenMs: 10_000, blockedMs: 5000, intervalMs: 15 };
const DEADLINES = { construct: 30, reset: 30, step: 2, close: 30 };

/** A worker whose processes run or stand still as told, seen by a judge that looks or sleeps as told. Times in whole milliseconds. */
function scene(limits: JudgeLimits = LIMITS) {
  const judge = createLivenessJudge(limits);
  const line = {
    worker: 0,
    envId: -1,
    span: 1,
    op: 'idle' as Progress['op'],
    loops: 0,
    frames: 0,
    epoch: 0,
    nativeMs: 1000,
    loopMs: 1000,
    opMs: 0,
  };
  let nowMs = 1000;
  let sinceLookMs = 0;
  let last: Judgement = { verdict: 'ok', kill: null };
  return {
    line,
    get nowMs() {
      return nowMs;
    },
    get last() {
      return last;
    },
    begin(op: Progress['op'], envId: number) {
      Object.assign(line, { op, envId, opMs: op === 'idle' ? line.opMs : nowMs });
    },
    /** Passes time; returns when a kill was first asked for within it, or null. */
    pass(
      ms: number,
      { beats = true, turns = true, looks = true, uncounted = null as 'throttled' | 'suspended' | null, deadlines = DEADLINES } = {},
    ): number | null {
      let killMs: number | null = null;
      for (const end = nowMs + ms; nowMs < end; ) {
        nowMs++;
        sinceLookMs++;
        if (beats && nowMs % BEAT_MS === 0) line.nativeMs = nowMs;
        if (turns) {
          line.loopMs = nowMs;
          line.loops++;
          line.frames++;
        }
        if (!looks || sinceLookMs < limits.intervalMs) continue;
        sinceLookMs = 0;
        last = judge.look(nowMs, line, deadlines, uncounted);
        if (last.kill !== null) killMs ??= nowMs;
      }
      return killMs;
    },
  };
}

describe('liveness judge', () => {
  it('calls a worker that turns and publishes ok, and one that has nothing to do waiting', () => {
    // Goal: flat is no fault.
    const at = scene();
    assert.equal(at.pass(3000), null);
    assert.equal(at.last.verdict, 'ok');
    for (let i = 0; i < 600; i++) {
      at.line.loopMs = at.nowMs;
      assert.equal(at.pass(20, { turns: false }), null);
    }
    assert.equal(at.last.verdict, 'waiting');
  });

  it('asks for a kill when an operation outlives the deadline of that operation, and names env, operation and limit', () => {
    // Goal: a hang is found by its own deadline, within two looks and a beat.
    const at = scene();
    at.pass(500);
    at.begin('step', 7);
    const began = at.nowMs;
    const killed = at.pass(4000, { turns: false });
    assert.ok(killed !== null && killed - began > 2000 && killed - began <= 2000 + 2 * LIMITS.intervalMs, `${killed}`);
    assert.equal(at.last.verdict, 'hung');
    assert.deepEqual([at.last.kill?.cause, at.last.kill?.op, at.last.kill?.envId, at.last.kill?.limitMs], ['deadline', 'step', 7, 2000]);
    const slow = scene();
    slow.begin('construct', 7);
    assert.equal(slow.pass(29_000, { turns: false }), null, 'another operation has another deadline');
  });

  it('starts anew with every operation', () => {
    // Goal: a slow worker that moves is never killed.
    const at = scene();
    for (let env = 0; env < 10; env++) {
      at.begin('step', env);
      assert.equal(at.pass(1900, { turns: false }), null);
    }
    for (let again = 0; again < 10; again++) {
      at.begin('step', 3);
      assert.equal(at.pass(1900, { turns: false }), null, 'the same env again');
    }
  });

  it('suspects a worker without a beat, and calls it frozen after frozenSeconds', () => {
    // Goal: stopped is told from hung.
    const at = scene();
    at.begin('step', 1);
    at.pass(100);
    assert.equal(at.pass(STALE_MS + 100, { beats: false, turns: false }), null);
    assert.equal(at.last.verdict, 'suspect');
    const stopped = at.pass(20_000, { beats: false, turns: false });
    assert.ok(stopped !== null);
    assert.deepEqual([at.last.verdict, at.last.kill?.cause], ['frozen', 'frozen']);
  });

  it('does not hold a pause against the operation that was in work', () => {
    // Goal: STOP for 5 s with a step deadline of 2 s, then CONT: suspect, cleared, no kill.
    const at = scene();
    at.begin('step', 1);
    at.pass(300, { turns: false });
    assert.equal(at.pass(5000, { beats: false, turns: false }), null);
    assert.equal(at.last.verdict, 'suspect');
    assert.equal(at.pass(1500, { turns: false }), null, 'it has had 1.8 s so far');
    assert.equal(at.last.verdict, 'ok');
    assert.notEqual(at.pass(500, { turns: false }), null, 'now it has had more than 2 s');
  });

  it('does not hold its own sleep against anyone', () => {
    // Goal: a supervisor that was busy allocating, or a machine that was suspended, kills nobody.
    for (const beats of [true, false]) {
      const at = scene();
      at.begin('step', 1);
      at.pass(200, { turns: false });
      assert.equal(at.pass(60_000, { looks: false, beats, turns: false }), null);
      assert.equal(at.pass(200, { turns: false }), null);
      assert.notEqual(at.last.verdict, 'frozen');
    }
  });

  it('finds a blocked event loop by its stamp while no env is in work', () => {
    // Goal: native fresh, loop stale.
    const at = scene();
    at.pass(500);
    assert.equal(at.pass(4800, { turns: false }), null);
    assert.notEqual(at.pass(400, { turns: false }), null);
    assert.deepEqual([at.last.verdict, at.last.kill?.cause, at.last.kill?.envId], ['blocked', 'blocked', -1]);
  });

  it('holds nothing against a worker that is throttled, or while killing is suspended', () => {
    // Goal: classed, not hung.
    const at = scene();
    at.begin('step', 1);
    assert.equal(at.pass(60_000, { turns: false, uncounted: 'throttled' }), null);
    assert.equal(at.last.verdict, 'throttled');
    const held = scene();
    held.begin('step', 1);
    assert.equal(held.pass(60_000, { beats: false, turns: false, uncounted: 'suspended' }), null);
  });

  it('judges an env of an unknown entry by no deadline, and a worker that has never beaten by its operations alone', () => {
    // Goal: missing words are no fault.
    const at = scene();
    at.begin('step', 1);
    assert.equal(at.pass(60_000, { turns: false, deadlines: null as unknown as typeof DEADLINES }), null);
    const mute = scene();
    mute.line.nativeMs = 0;
    mute.begin('step', 1);
    const began = mute.nowMs;
    const killed = mute.pass(30_000, { beats: false, turns: false });
    assert.ok(killed !== null && killed - began > 2000 && killed - began < 2100);
  });

  it('property: pauses below frozenSeconds never kill, whatever happens around them', () => {
    // Goal: no false kill.
    const pause = fc.record({ run: fc.integer({ min: 300, max: 2000 }), pause: fc.integer({ min: 0, max: 9000 }), sleeps: fc.boolean() });
    fc.assert(
      fc.property(fc.array(pause, { minLength: 1, maxLength: 8 }), (schedule) => {
        const at = scene();
        for (const { run, pause: still, sleeps } of schedule) {
          // A step whose deadline is 2 s, interrupted by a pause in its middle: up to two beats of a pause look like work.
          at.begin('step', 1);
          const work = Math.min(run, 2000 - MOST_COUNTED_MS - LIMITS.intervalMs);
          assert.equal(at.pass(work / 2, { turns: false }), null);
          assert.equal(at.pass(still, { beats: false, turns: false, looks: !sleeps }), null);
          assert.equal(at.pass(work / 2, { turns: false }), null);
          at.begin('idle', -1);
          assert.equal(at.pass(100), null);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('property: a real hang is found within its deadline and two looks of observed time', () => {
    // Goal: no hang is missed, whatever pauses come before and in it.
    const pieces = fc.array(fc.record({ work: fc.integer({ min: 60, max: 900 }), pause: fc.integer({ min: 400, max: 8000 }) }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 100, max: 4000 }), (interruptions, deadlineMs) => {
        const at = scene();
        const deadlines = { ...DEADLINES, step: deadlineMs / 1000 };
        at.pass(137);
        at.begin('step', 1);
        // What the judge must have counted at least, and may have counted at most.
        let least = 0;
        let most = 0;
        for (const { work, pause } of interruptions) {
          most += work;
          const early = at.pass(work, { turns: false, deadlines });
          if (early !== null) {
            assert.ok(most > deadlineMs, 'not before its deadline');
            return;
          }
          // A pause takes up to a beat of work on either side with it, and up to two of its own beats look like work.
          most += MOST_COUNTED_MS;
          const inPause = at.pass(pause, { beats: false, turns: false, deadlines });
          if (inPause !== null) {
            assert.ok(most > deadlineMs, 'not before its deadline');
            return;
          }
          least += Math.max(0, work - 2 * BEAT_MS);
        }
        const began = at.nowMs;
        const killed = at.pass(deadlineMs + 1000, { turns: false, deadlines });
        assert.ok(killed !== null, 'it is found');
        assert.ok(
          killed - began <= Math.max(0, deadlineMs - least) + BEAT_MS + 2 * LIMITS.intervalMs,
          `${killed - began} for ${deadlineMs} less ${least}`,
        );
      }),
      { numRuns: 100 },
    );
  });
});
