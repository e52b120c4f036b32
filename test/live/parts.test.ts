// The live page's pure parts: bounded memory for runs of any length, text that cannot act, states packed and unpacked alike.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { liveToken } from '../../harness/live/access.js';
import type { LivePoint } from '../../harness/live/live-feed.js';
import { createNoticeBoard } from '../../harness/live/notice-board.js';
import { createPointHistory } from '../../harness/live/point-history.js';
import { countStates, runLengths } from '../../harness/live/run-lengths.js';
import { visibleText } from '../../harness/live/visible-text.js';

const point = (t: number): Omit<LivePoint, 'id'> => ({ t, tier: 0, sampling: t, training: 0, fill: 0, live: 1, returns: [] });

describe('the history of points', () => {
  it('covers a run of six days in bounded memory, evenly and to the end', () => {
    const history = createPointHistory(100);
    const seconds = 6 * 86_400;
    for (let t = 0; t < seconds; t++) history.add(point(t));
    const { points } = history.since(0);
    assert.ok(points.length >= 49 && points.length < 100, String(points.length));
    assert.equal(points[0]?.t, 0);
    const gaps = new Set(points.slice(1).map(({ t }, index) => t - (points[index]?.t ?? 0)));
    assert.equal(gaps.size, 1, `gaps ${[...gaps].join(', ')}`);
    assert.ok(seconds - (points.at(-1)?.t ?? 0) <= 2 * ([...gaps][0] ?? 0));
  });

  it('sends a viewer what it lacks, so that what it was sent adds up to what a new viewer gets', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 30 }), (bursts) => {
        const history = createPointHistory(20);
        let held: LivePoint[] = [];
        let t = 0;
        for (const burst of bursts) {
          for (let i = 0; i < burst; i++) history.add(point(t++));
          const { whole, points } = history.since(held.at(-1)?.id ?? 0);
          held = whole ? [...points] : [...held, ...points];
        }
        assert.deepEqual(held, history.since(0).points);
      }),
    );
  });

  it('sends everything to a viewer that claims to come from the future', () => {
    const history = createPointHistory();
    history.add(point(0));
    assert.deepEqual(history.since(99).whole, true);
  });
});

describe('the board of notices', () => {
  it('shows 7,000 envs that fail alike as one line with a count', () => {
    const board = createNoticeBoard();
    for (let env = 0; env < 7000; env++)
      board.add({ type: 'env-failed', message: `env ${env} (mine): reward ${env / 7}`, runSeconds: env });
    const lines = board.since(0);
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0]?.count, lines[0]?.message], [7000, 'env 6999 (mine): reward 999.8571428571429']);
    assert.equal(board.counts.get('env-failed'), 7000);
  });

  it('keeps the lines heard of last when there are more kinds of them than it holds', () => {
    const board = createNoticeBoard(3);
    for (const letter of ['a', 'b', 'c', 'a', 'd']) board.add({ type: 'warning', message: letter, runSeconds: 0 });
    assert.deepEqual(
      board.since(0).map(({ message, count }) => [message, count]),
      [
        ['c', 1],
        ['a', 2],
        ['d', 1],
      ],
    );
  });

  it('tells only what changed since a revision', () => {
    const board = createNoticeBoard();
    board.add({ type: 'warning', message: 'one', runSeconds: 0 });
    const { revision } = board;
    board.add({ type: 'warning', message: 'two', runSeconds: 1 });
    assert.deepEqual(
      board.since(revision).map(({ message }) => message),
      ['two'],
    );
  });
});

describe('text from outside', () => {
  it('loses control characters and marks that turn its direction, and is cut', () => {
    assert.equal(visibleText('a\u001b[31mb\u202ec\u0000d\ne', 100), 'a�[31mb�c�d e');
    assert.equal(visibleText('x'.repeat(10), 5), 'xxxx…');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(visibleText(text, 50), /[\p{Cc}\p{Cf}\p{Cs}]/u);
        assert.ok(visibleText(text, 50).length <= 50);
      }),
    );
  });
});

describe('run lengths', () => {
  it('hold every env once, in order', () => {
    fc.assert(
      fc.property(fc.uint8Array({ max: 5 }), (states) => {
        const runs = runLengths(states);
        const unpacked: number[] = [];
        for (let i = 0; i < runs.length; i += 2) unpacked.push(...new Array<number>(runs[i + 1] as number).fill(runs[i] as number));
        assert.deepEqual(unpacked, [...states]);
        assert.equal(
          countStates(states, 6).reduce((sum, count) => sum + count, 0),
          states.length,
        );
      }),
    );
  });

  it('are a handful of numbers for 7,000 envs that do the same', () => {
    const states = new Uint8Array(7000).fill(1);
    states[3500] = 4;
    assert.deepEqual(runLengths(states), [1, 3500, 4, 1, 1, 3499]);
  });
});

describe('the token', () => {
  it('is fresh and long when none is given, and refused when it is weak or could not stand in an address', () => {
    assert.notEqual(liveToken(undefined), liveToken(undefined));
    assert.ok(liveToken('').length >= 43);
    assert.equal(liveToken('my-own-token-0123456789'), 'my-own-token-0123456789');
    for (const weak of ['short', 'with a space in the middle', "quote'quote'quote'quote", 'a'.repeat(201), 'dollar$1dollar$1dollar'])
      assert.throws(() => liveToken(weak), { name: 'EnvladderError', code: 'bad-usage' });
  });
});
