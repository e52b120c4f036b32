// What the `fault` kind does to its process: throws, sleeps, spins, exits, crashes, leaks, blocks the event loop, stops half-way through an
// observation. Nothing here decides when.
import type { TypedArray } from '../contract/dtype.js';
import type { Slot } from '../contract/env.js';
import type { FaultRule } from './fault-schedule.js';

const SLEEP_MS = 100;
/** A leak by time counts at most this much of a pause: an env that waited an hour must not take an hour's memory in one step. */
const MAX_LEAK_SECONDS = 1;

/** Memory that `leak` keeps: reachable for the life of the process. */
const leaked: Buffer[] = [];
const sleepWord = new Int32Array(new SharedArrayBuffer(4));

export function burnMs(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Sleeps off the CPU; without a time for ever. */
function sleepMs(ms: number | undefined): void {
  Atomics.wait(sleepWord, 0, 0, ms);
}

/** A signal to oneself may land a moment later: nothing more of the env's work may happen before. */
function signalSelf(signal: NodeJS.Signals, landsWithinMs: number | undefined): void {
  process.kill(process.pid, signal);
  sleepMs(landsWithinMs);
}

function leak(megabytes: number): void {
  leaked.push(Buffer.alloc(Math.round(megabytes * 1_048_576), 1));
}

/** Acts before the wrapped call. `idleMs`: since this env's last call. */
export function act(rule: FaultRule, where: string, idleMs: number): void {
  switch (rule.fault) {
    case 'throw':
      throw new Error(`scheduled fault in ${where}`);
    case 'sleep':
      sleepMs(rule.ms ?? SLEEP_MS);
      return;
    case 'spin':
      for (;;);
    case 'exit':
      process.exit(rule.code);
      break;
    case 'segfault':
      signalSelf('SIGSEGV', undefined);
      return;
    case 'abort':
      process.abort();
      break;
    case 'block': {
      const { ms } = rule;
      // In a turn of the event loop, when no env is in work.
      setImmediate(() => burnMs(ms ?? Number.POSITIVE_INFINITY));
      return;
    }
    case 'leak':
      if (rule.megabytesPerSecond === undefined) leak(rule.megabytes);
      else leak(rule.megabytesPerSecond * Math.min(idleMs / 1000, MAX_LEAK_SECONDS));
  }
}

/** Runs `write`, which fills the slot's observation, but pauses when only the first half of it is there. */
export function pauseMidFrame<Result extends { obs?: Record<string, TypedArray> } | undefined>(
  slot: Slot,
  rule: FaultRule,
  write: () => Result,
): Result {
  const views = Object.entries(slot.obs);
  const before = views.map(([, view]) => view.slice());
  const result = write();
  const after = views.map(([key, view]) => (result?.obs?.[key] ?? view).slice());
  views.forEach(([, view], i) => {
    const half = Math.ceil(view.length / 2);
    view.set((after[i] as TypedArray).subarray(0, half) as Float64Array);
    view.set((before[i] as TypedArray).subarray(half) as Float64Array, half);
  });
  if (rule.how === 'stop') signalSelf('SIGSTOP', 10);
  else sleepMs(rule.ms);
  views.forEach(([, view], i) => {
    view.set(after[i] as Float64Array);
  });
  return result;
}
