import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createFrameCheck, type FrameCheck } from '../../harness/chaos/frame-check.js';
import { ABANDONED, FIRST, QUARANTINED, TERMINATED } from '../../harness/contract/frame-flags.js';
import { probeValue } from '../../harness/envs/kinds/probe.js';

const ENV = 7;
const WIDTH = 4;

interface Frame {
  readonly episode: number;
  readonly step: number;
  readonly flags: number;
}

function cellsOf(envId: number, { episode, step }: Frame): Float64Array {
  return Float64Array.from({ length: WIDTH }, (_, j) => probeValue(envId, episode, step, j));
}

function see(check: FrameCheck, frame: Frame, cells = cellsOf(ENV, frame)): void {
  check.see(0, frame.flags, frame.step, cells, 0, WIDTH);
}

/** The frames of `episodes` whole episodes of `length` steps. */
function story(episodes: number, length: number): Frame[] {
  return Array.from({ length: episodes }, (_, episode) =>
    Array.from({ length: length + 1 }, (_, step) => ({ episode, step, flags: step === 0 ? FIRST : step === length ? TERMINATED : 0 })),
  ).flat();
}

function checkOf(frames: readonly Frame[]): FrameCheck {
  const check = createFrameCheck();
  check.addRows(0, 1, ENV);
  for (const frame of frames) see(check, frame);
  return check;
}

describe('the frame check', () => {
  it('accepts every story an env can tell', () => {
    // Goal: no false alarm: whole episodes, and a trajectory cut anywhere by an abandoned reset.
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 }), fc.nat(30), (episodes, length, cut) => {
        const frames = story(episodes, length);
        const lost: Frame[] = [
          ...frames.slice(0, cut),
          { episode: 0, step: 0, flags: FIRST | ABANDONED },
          { episode: 0, step: 1, flags: 0 },
        ];
        const check = checkOf(cut === 0 ? frames : lost);
        assert.deepEqual(check.takeTold(), []);
        assert.equal(check.violations, 0);
      }),
    );
  });

  it('finds any frame that is lost, repeated or swapped', () => {
    // Goal: order is checked frame by frame: no single slip passes.
    const frames = story(3, 5);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: frames.length - 2 }), fc.constantFrom('lost', 'twice', 'swapped'), (at, slip) => {
        const bad = [...frames];
        if (slip === 'lost') bad.splice(at, 1);
        if (slip === 'twice') bad.splice(at, 0, frames[at] as Frame);
        if (slip === 'swapped') [bad[at], bad[at + 1]] = [bad[at + 1] as Frame, bad[at] as Frame];
        assert.ok(checkOf(bad).violations > 0, `${slip} at ${at}`);
      }),
    );
  });

  it('finds one wrong element in any cell', () => {
    // Goal: a torn or mixed cell is seen, wherever it tears.
    fc.assert(
      fc.property(fc.nat(WIDTH - 1), fc.constantFrom('other step', 'other env', 'NaN'), (element, what) => {
        const frame = { episode: 0, step: 0, flags: FIRST };
        const cells = cellsOf(ENV, frame);
        const from = what === 'other env' ? cellsOf(ENV + 1, frame) : cellsOf(ENV, { ...frame, step: 1 });
        cells[element] = what === 'NaN' ? Number.NaN : (from[element] as number);
        const check = createFrameCheck();
        check.addRows(0, 1, ENV);
        see(check, frame, cells);
        assert.equal(check.violations, 1);
        assert.match(check.takeTold()[0] ?? '', /env 7/);
      }),
    );
  });

  it('makes nothing of the last frame of a quarantined env, and takes no step after it', () => {
    // Goal: what is never trained is not judged; a step of an env that is out is a violation, a reset after a release is none.
    const last = { episode: 0, step: 2, flags: QUARANTINED | ABANDONED };
    const check = checkOf(story(1, 1));
    see(check, last, new Float64Array(WIDTH).fill(Number.NaN));
    assert.equal(check.violations, 0);
    see(check, { episode: 9, step: 0, flags: FIRST | ABANDONED });
    assert.equal(check.violations, 0);
    const other = checkOf(story(1, 1));
    see(other, last);
    see(other, { episode: 0, step: 3, flags: 0 });
    assert.equal(other.violations, 1);
  });
});
