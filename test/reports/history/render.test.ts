// Goal: a history says where a metric changed and since which commit, draws it, and takes nothing from outside for markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../../../harness/contract/run-record.js';
import { entryOf } from '../../../reports/history/history-entry.js';
import type { History } from '../../../reports/history/history-folder.js';
import { levelFigure, spanTicks } from '../../../reports/history/level-figure.js';
import { renderHistoryHtml } from '../../../reports/history/render-html.js';
import { renderHistoryTerminal } from '../../../reports/history/render-terminal.js';
import { type Series, seriesOf } from '../../../reports/history/series.js';
import { median } from '../../../reports/stats/median.js';
import { HOSTILE, hostileRun } from '../../fixtures/ladder-run.js';
import { makeRuns } from '../compare/made-runs.js';

/** 12 runs at one speed, then 12 at a tenth less; day by day. */
function slowedDown(change: (record: RunRecord, run: number) => RunRecord = (record) => record): RunRecord[] {
  const dated = (offset: number) => (record: RunRecord, i: number) =>
    change({ ...record, run: { ...record.run, started_at: `2026-10-${String(offset + i).padStart(2, '0')}T06:00:00.000Z` } }, offset + i);
  return [
    ...makeRuns({ name: 'early', runs: 12, seed: 1, change: dated(1) }),
    ...makeRuns({ name: 'late', runs: 12, seed: 2, slower: 1.1, change: dated(13) }),
  ];
}

function historyOf(records: readonly RunRecord[]): History {
  return { file: 'history/x.ndjson', entries: records.map(entryOf), skippedLines: 0 };
}

function named(series: readonly Series[], name: string): Series {
  const found = series.find((each) => each.name === name);
  assert.ok(found !== undefined, name);
  return found;
}

test('a slow-down is found at the commit that brought it, as worse for rates and for times', () => {
  const series = seriesOf(historyOf(slowedDown()).entries);
  for (const name of ['sampling_sps', 'step_latency_us.p50']) {
    const { changes, levels } = named(series, name);
    assert.deepEqual(
      changes.map(({ point, worse }) => [point.run, point.commit, worse]),
      [['late-001', 'late0000000', true]],
    );
    assert.equal(levels.length, 2);
    assert.ok(Math.abs(Math.abs(changes[0]?.shift ?? 0) - 0.1) < 0.02);
  }
  assert.deepEqual(named(series, 'pss_bytes').changes, []);
});

test('invalid runs are drawn but move no level', () => {
  const spoil = (record: RunRecord, run: number): RunRecord =>
    run % 4 === 0
      ? { ...record, verdict: 'invalid', tiers: record.tiers.map((tier) => ({ ...tier, sampling_sps: tier.sampling_sps / 100 })) }
      : record;
  const { changes, levels, points } = named(seriesOf(historyOf(slowedDown(spoil)).entries), 'sampling_sps');
  assert.equal(points.length, 24);
  assert.deepEqual(
    changes.map(({ point }) => point.run),
    ['late-001'],
  );
  assert.deepEqual(
    levels.map((level) => level.median),
    [points.slice(0, 12), points.slice(12)].map((part) => median(part.filter(({ valid }) => valid).map(({ value }) => value))),
  );
  assert.match(renderHistoryTerminal([historyOf(slowedDown(spoil))]), /24 runs, .*6 invalid \(not counted\)/);
});

test('terminal and page name metric, shift, commit and run of each change', () => {
  const history = historyOf(slowedDown());
  for (const text of [renderHistoryTerminal([history]), renderHistoryHtml([history])]) {
    assert.match(
      text.replace(/\s+/g, ' '),
      /since commit late0000000 \(run late-001, 2026-10-13 06:00:00 UTC\): sampling_sps @ 1,000 envs \u2212\d+\.\d % \(worse\), training_sps/,
    );
  }
});

test('the page is the same bytes each time, draws each metric that moved, fetches and runs nothing', () => {
  const history = historyOf(slowedDown());
  const page = renderHistoryHtml([history]);
  assert.equal(renderHistoryHtml([historyOf(slowedDown())]), page);
  const moved = seriesOf(history.entries).filter((series) => new Set(series.points.map(({ value }) => value)).size > 1);
  assert.equal(page.match(/<figure>/g)?.length, moved.length);
  assert.equal(page.match(/<circle/g)?.length, moved.length * 24 + moved.length, 'one dot per run and one in each legend');
  assert.doesNotMatch(page, /<script|https?:\/\/(?!www\.w3\.org)/);
});

test('where no commit is known, a change is told by its run', () => {
  const history = historyOf(slowedDown((record) => ({ ...record, run: { ...record.run, git_commit: null } })));
  assert.match(renderHistoryTerminal([history]), /since run late-001 \(run late-001/);
});

test('one run, and runs that are all equal, make a page without figures', () => {
  const [run] = slowedDown();
  assert.ok(run !== undefined);
  assert.doesNotMatch(renderHistoryHtml([historyOf([run])]), /<figure>/);
  assert.match(renderHistoryHtml([]), /No run has been added yet/);
  assert.equal(levelFigure(named(seriesOf(historyOf(slowedDown()).entries), 'restarts')), undefined);
});

test('text from outside stays text', () => {
  const { record } = hostileRun();
  const history = historyOf([record, { ...record, run: { ...record.run, id: `${HOSTILE}2` } }]);
  assert.doesNotMatch(renderHistoryHtml([history]).replace(/<style>.*?<\/style>/s, ''), /<script|<\/style/);
  assert.ok(!renderHistoryTerminal([history]).includes('\u001b'));
});

test('axis marks are round and enclose what was measured', () => {
  for (const [low, high] of [
    [0, 1],
    [4521, 5012],
    [0.0071, 0.0093],
    [99.5, 100.5],
    [-3, 8],
  ] as const) {
    const ticks = spanTicks(low, high);
    assert.ok((ticks[0] ?? Number.NaN) <= low && (ticks.at(-1) ?? Number.NaN) >= high, ticks.join());
    assert.ok(ticks.length >= 2 && ticks.length <= 8, ticks.join());
  }
});
