import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '../../harness/chaos/seeded-random.js';
import { growthOf, keepSample, type ProcessSample } from '../../harness/chaos/soak/process-samples.js';
import { chooseStrike, type Death, falseKills } from '../../harness/chaos/soak/soak-faults.js';
import { HOURS_PLAN, restOf, soakPlan } from '../../harness/chaos/soak/soak-plan.js';
import { planSchema } from '../../harness/contract/plan.js';

const death = (pid: number, cause: string): Death => ({ worker: 1, pid, cause, message: `process ${pid}` });

describe('the soak', () => {
  it('calls a death false unless that very process was killed', () => {
    // Goal: a pause excuses no death, and a kill excuses only its own process and cause.
    const strikes = [
      { fault: 'kill', atS: 1, worker: 1, pids: [11] },
      { fault: 'pause-one', atS: 2, worker: 2, pids: [22] },
    ] as const;
    const wrong = falseKills([death(11, 'SIGKILL'), death(22, 'frozen'), death(11, 'deadline'), death(33, 'SIGKILL')], strikes);
    assert.deepEqual(
      wrong.map(({ pid, cause }) => `${pid} ${cause}`),
      ['22 frozen', '11 deadline', '33 SIGKILL'],
    );
  });

  it('never kills worker 0, and strikes Redis only where it has one', () => {
    // Goal: there is a process whose memory can be followed from the first hour to the last.
    const seats = new Map([
      [0, 100],
      [1, 101],
    ]);
    const random = seededRandom(5);
    for (let n = 0; n < 500; n++) {
      const strike = chooseStrike(seats, n % 2 === 0, random, n);
      assert.ok(strike !== null);
      if (strike.fault === 'kill') assert.deepEqual(strike.pids, [101]);
      if (n % 2 === 1) assert.notEqual(strike.fault, 'redis-outage');
    }
    assert.equal(chooseStrike(new Map(), false, random, 0), null);
  });

  it('finds the slope of a straight line, and its error small', () => {
    // Goal: bytes an hour come out as they went in, the warm-up left out.
    fc.assert(
      fc.property(fc.integer({ min: -5_000_000, max: 50_000_000 }), (perHour) => {
        const samples = Array.from({ length: 200 }, (_, i): ProcessSample => {
          const atS = i * 10;
          return { atS, rssBytes: atS < 300 ? 1e9 : 2e8 + (perHour * atS) / 3600, fds: 20 };
        });
        const { slopeBytesPerHour, slopeError, fdsMost } = growthOf(samples);
        assert.ok(slopeBytesPerHour !== null && slopeError !== null);
        assert.ok(Math.abs(slopeBytesPerHour - perHour) < 1 + Math.abs(perHour) * 1e-6);
        assert.ok(slopeError < 10);
        assert.equal(fdsMost, 20);
      }),
    );
    assert.equal(growthOf([]).slopeBytesPerHour, null);
  });

  it('keeps samples of any number of hours within its bound, first and last among them', () => {
    // Goal: memory of the soak itself does not grow.
    const samples: ProcessSample[] = [];
    for (let i = 0; i < 50_000; i++) keepSample(samples, { atS: i, rssBytes: 1, fds: 1 });
    assert.ok(samples.length <= 4096);
    assert.equal(samples[0]?.atS, 0);
    assert.ok((samples.at(-1)?.atS ?? 0) > 49_900);
  });

  it('plans a number of hours, and after a cut what is left of any plan', () => {
    // Goal: the rest of a plan is a plan, and its seconds are those that were not measured yet.
    const raw = soakPlan({ hours: 2, seed: 1, cwd: process.cwd() }, null);
    const plan = planSchema.parse(raw);
    assert.equal(plan.seconds, 7200);
    assert.deepEqual(plan.mix, HOURS_PLAN.mix);
    const account = soakPlan({ plan: 'account', seed: 1, cwd: process.cwd() }, 'unix:///tmp/x.sock');
    assert.deepEqual(account.redis, { url: 'unix:///tmp/x.sock' });
    const total = 6 * 86_400;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: total + 10 }), (done) => {
        const rest = restOf(account, done);
        if (rest === null) {
          assert.ok(done > total - 4);
          return;
        }
        const tiers = planSchema.parse(rest).tiers as { seconds: number }[];
        const left = tiers.reduce((sum, { seconds }) => sum + seconds, 0);
        assert.ok(Math.abs(left + done - total) < 2);
      }),
    );
  });
});
