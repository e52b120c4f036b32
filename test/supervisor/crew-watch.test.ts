import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { healthSchema } from '../../harness/contract/plan-health.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { watchCrew } from '../../harness/supervisor/crew-watch.js';

const NATIVE = 0;
const LOOP = 1;
const LOOK_MS = 15;
const BEAT_MS = 50;

/** A learner without workers, whose two stamps move as told. */
function scene() {
  const control = createTwinMemory().createControl(1);
  const stamps = control.stampWords(0);
  const killed: (string | undefined)[] = [];
  let nowMs = 1000;
  const watch = watchCrew({
    posts: [],
    learner: { up: true, life: 0, kill: (cause) => void killed.push(cause) },
    control,
    health: healthSchema.parse({}),
    judges: true,
    cgroupOf: () => null,
    isAsleep: () => false,
    emit: () => undefined,
    now: () => nowMs,
  });
  // Its own timer: looks are made by hand here.
  watch.end();
  return {
    killed,
    pass(ms: number, { beats, turns }: { beats: boolean; turns: boolean }): void {
      for (const end = nowMs + ms; nowMs < end && killed.length === 0; ) {
        nowMs += LOOK_MS;
        if (beats && nowMs - (stamps[NATIVE] as number) >= BEAT_MS) stamps[NATIVE] = nowMs;
        if (turns) stamps[LOOP] = nowMs;
        watch.look();
      }
    },
  };
}

describe('the watch over the learner', () => {
  it('lets it be as long as its event loop turns, whatever it says or does not say', () => {
    // Goal: only the kernel and the progress line may kill; a message that does not come is no reason.
    const { pass, killed } = scene();
    pass(600_000, { beats: true, turns: true });
    assert.deepEqual(killed, []);
  });

  it('waits through a long update, and ends one whose event loop never turns again', () => {
    // Goal: a blocked learner does not hang the run for days.
    const { pass, killed } = scene();
    pass(1000, { beats: true, turns: true });
    pass(100_000, { beats: true, turns: false });
    assert.deepEqual(killed, []);
    pass(1000, { beats: true, turns: true });
    pass(130_000, { beats: true, turns: false });
    assert.deepEqual(killed, ['blocked']);
  });

  it('ends one that gives no sign of life at all, sooner', () => {
    // Goal: a stopped learner is found by its beat.
    const { pass, killed } = scene();
    pass(1000, { beats: true, turns: true });
    pass(60_000, { beats: false, turns: false });
    assert.deepEqual(killed, ['frozen']);
  });
});
