// Conformance of a reader that answers at a set rate: what is held, when it is let go, and what is counted. Real clocks, no upper bounds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LatencyPairs, Memory } from '../../harness/memory/interface.js';
import { act, claim, collect, openScene, round, type Scene } from './conformance-scene.js';

const PERIOD_MS = 30;
const ROWS = [0, 1, 2, 3, 4, 5];

const samples = ({ count }: LatencyPairs): number => count.reduce((sum, each) => sum + each, 0);
const sumUs = ({ valueUs, count }: LatencyPairs): number => valueUs.reduce((sum, value, i) => sum + value * (count[i] as number), 0);

/** Lets time pass until every row's answer is out, publishing and taking each; returns the frames of every look. */
function untilAllStepped(scene: Scene): number[] {
  const looks: number[] = [];
  let left = ROWS.length;
  while (left > 0) {
    // Lets go what is due; frames of the looks before are taken.
    const taken = collect(scene).length;
    left -= taken;
    if (taken > 0) looks.push(taken);
    const { steps, resets } = round(scene);
    if (steps.length + resets.length === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  return looks;
}

export function conformancePace(name: string, make: () => Memory): void {
  const paced = () => openScene(make(), { slots: ROWS.length, stepPeriodMs: PERIOD_MS });

  test(`${name}: without a rate nothing is held and nothing is counted from an intended time`, () => {
    // Goal: the default costs and changes nothing.
    const scene = openScene(make(), { slots: ROWS.length });
    round(scene);
    collect(scene);
    act(scene, ROWS);
    assert.equal(claim(scene).steps.length, ROWS.length);
    assert.deepEqual([samples(scene.reader.response()), samples(scene.reader.lag()), scene.reader.nextDueMs()], [0, 0, 0]);
  });

  test(`${name}: an answer is not seen before its time, and every row gets its own`, () => {
    // Goal: a rate is a rate, and rows do not tick together.
    const scene = paced();
    round(scene);
    collect(scene);
    const before = performance.now();
    act(scene, ROWS);
    // Row 0 begins the period; the others are spread over it, so they wait.
    const atOnce = claim(scene).steps;
    assert.ok(atOnce.length < ROWS.length, `${atOnce.length} of ${ROWS.length} were let go at once`);
    scene.writer.publish('full');
    const looks = untilAllStepped(scene);
    assert.ok(performance.now() - before >= PERIOD_MS * 0.6, 'six rows spread over a period take most of it');
    assert.ok(looks.length > 1, 'not all in one look');
    assert.equal(scene.reader.nextDueMs(), 0);
  });

  test(`${name}: the intended time counts: what waits for its worker is a slow response, not a slow service`, () => {
    // Goal: no coordinated omission.
    const scene = paced();
    round(scene);
    collect(scene);
    act(scene, ROWS);
    untilAllStepped(scene);
    scene.reader.resetLatency();
    // Two periods without a turn: the second answers come late, and the third's clocks have run on meanwhile.
    const stalledMs = 2 * PERIOD_MS;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stalledMs);
    act(scene, ROWS);
    assert.equal(claim(scene).steps.length, ROWS.length, 'all are overdue: nothing is held');
    scene.writer.publish('full');
    collect(scene);
    const service = scene.reader.latency();
    const response = scene.reader.response();
    assert.deepEqual([samples(service), samples(response), samples(scene.reader.lag())], [ROWS.length, ROWS.length, 0]);
    // Each was meant to be let go a period after its last one, which was in the period before the stall: most of the stall is in it.
    const extraUs = (sumUs(response) - sumUs(service)) / ROWS.length;
    assert.ok(extraUs >= (stalledMs - PERIOD_MS) * 1000 * 0.9, `the response is ${extraUs} us above the service`);
  });

  test(`${name}: what is held counts its lateness once it is let go; a reset clears all three`, () => {
    // Goal: the reader's own delay can be told from the system's.
    const scene = paced();
    round(scene);
    collect(scene);
    act(scene, ROWS);
    const dueMs = scene.reader.nextDueMs();
    assert.ok(dueMs > 0);
    untilAllStepped(scene);
    assert.ok(samples(scene.reader.lag()) >= 1 && samples(scene.reader.lag()) <= ROWS.length);
    assert.equal(samples(scene.reader.response()), ROWS.length);
    scene.reader.resetLatency();
    assert.deepEqual([samples(scene.reader.lag()), samples(scene.reader.response()), samples(scene.reader.latency())], [0, 0, 0]);
  });

  test(`${name}: answers held for a block that is dropped are let go nowhere`, () => {
    // Goal: a lost range leaves nothing behind.
    const scene = paced();
    round(scene);
    collect(scene);
    act(scene, ROWS);
    scene.reader.drop(scene.segment, scene.spec.id);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * PERIOD_MS);
    assert.equal(collect(scene).length, 0);
    assert.equal(samples(scene.reader.lag()), 0);
    assert.equal(scene.reader.nextDueMs(), 0);
  });
}
