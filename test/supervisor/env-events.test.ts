// Failures of envs as events: told one by one to people, by number in a flood, and every env named by what became of it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EnvFailure, FromWorker } from '../../harness/contract/messages.js';
import type { CrewEvent } from '../../harness/supervisor/crew.js';
import { createEnvEvents, FULL_PER_SECOND } from '../../harness/supervisor/env-events.js';

type Failures = Extract<FromWorker, { type: 'env-failures' }>;

const failure = (envId: number, over: Partial<EnvFailure> = {}): EnvFailure => ({
  envId,
  entry: 'e',
  code: 'env-failed',
  operation: 'step',
  message: `env ${envId} failed`,
  fate: 'quarantine',
  ...over,
});
const batch = (failures: EnvFailure[], also: Partial<Failures['also']> = {}): Failures => ({
  type: 'env-failures',
  failures,
  also: { rebuild: [], 'cool-down': [], quarantine: [], ...also },
});

function scene() {
  const events: CrewEvent[] = [];
  const clock = { nowMs: 0 };
  const timers: (() => void)[] = [];
  const told = createEnvEvents({ emit: (event) => events.push(event), now: () => clock.nowMs, later: (call) => void timers.push(call) });
  return { events, clock, told, tick: () => timers.splice(0).forEach((call) => void call()), timers };
}

const of = (events: CrewEvent[], type: CrewEvent['type']): CrewEvent[] => events.filter((event) => event.type === type);

describe('env events', () => {
  it('tell each failure with its fate, and all envs of a fate in one event', () => {
    // Goal: the record names every env that is out, in few rows.
    const { events, told, tick } = scene();
    told.failures(
      1,
      batch([failure(3, { operation: 'reset' }), failure(4, { fate: 'rebuild' })], { quarantine: [5, 6], 'cool-down': [7] }),
    );
    tick();
    told.flush();
    assert.deepEqual(
      events.filter(({ envId }) => envId === 3 || envId === 4).map(({ type, worker, detail }) => [type, worker, detail?.fate]),
      [
        ['reset-failed', 1, 'quarantine'],
        ['env-failed', 1, 'rebuild'],
      ],
    );
    assert.deepEqual(
      of(events, 'env-quarantined').map(({ detail }) => detail?.envIds),
      [[3, 5, 6]],
    );
    assert.deepEqual(
      of(events, 'env-cooling').map(({ envId }) => envId),
      [7],
    );
    assert.deepEqual(
      of(events, 'env-failed')
        .filter(({ detail }) => detail?.count !== undefined)
        .map(({ detail }) => detail?.envIds),
      [[7, 5, 6]],
    );
  });

  it('bound a flood: so many a second in full, the rest as one counted event', () => {
    // Goal: ten thousand failures a second are readable and cost nothing.
    const { events, clock, told, tick, timers } = scene();
    for (let second = 0; second < 3; second++) {
      for (let ms = 0; ms < 1000; ms += 10) {
        clock.nowMs = second * 1000 + ms;
        told.failures(
          ms % 4,
          batch(
            Array.from({ length: 32 }, (_, i) => failure(i, { fate: 'rebuild' })),
            { rebuild: Array.from({ length: 68 }, (_, i) => 32 + i) },
          ),
        );
        if (ms % 250 === 0) tick();
      }
    }
    told.flush();
    const full = events.filter(({ type, envId }) => type === 'env-failed' && envId !== undefined);
    const counted = of(events, 'env-failed').filter(({ detail }) => detail?.count !== undefined);
    assert.equal(full.length, 3 * FULL_PER_SECOND);
    assert.ok(counted.length <= 4, `${counted.length}`);
    const sum = counted.reduce((total, { detail }) => total + (detail?.count as number), 0);
    assert.equal(sum + full.length, 3 * 100 * 100, 'none is lost from the count');
    assert.ok(timers.length <= 1);
  });

  it('name every quarantined env, however many there are', () => {
    // Goal: the record can be asked for any env.
    const { events, told, tick } = scene();
    told.failures(0, batch([], { quarantine: Array.from({ length: 7000 }, (_, i) => i) }));
    tick();
    const named = of(events, 'env-quarantined')[0]?.detail?.envIds as number[] | undefined;
    assert.equal(named?.length, 7000);
  });

  it('tell what was rebuilt and released, workers together', () => {
    // Goal: a wave of rebuilds over many workers is one row.
    const { events, told, tick } = scene();
    told.changed(0, 'env-rebuilt', [1, 2]);
    told.changed(3, 'env-rebuilt', [9]);
    told.changed(3, 'env-released', [9]);
    tick();
    assert.deepEqual(
      events.map(({ type, worker, detail }) => [type, worker, detail?.envIds]),
      [
        ['env-rebuilt', undefined, [1, 2, 9]],
        ['env-released', 3, [9]],
      ],
    );
  });
});
