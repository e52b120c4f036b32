// The addon in several threads of one process, and beats that end with whoever made them: thread, process, or control page.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { SegmentSpec } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { until } from '../fixtures/until.js';
import type { BeatingData } from './beating-thread.js';

/** A worker thread does not inherit the loader of TypeScript: it registers its own. */
const BOOT = `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(new URL('./beating-thread.ts', import.meta.url))})))`;
const PROCESS = fileURLToPath(new URL('./beating-process.ts', import.meta.url));
const WATCHDOG = { timeout: 60_000 };

const specOf = (worker: number): SegmentSpec => ({
  runId: 'beats',
  worker,
  blocks: [
    {
      id: 0,
      kind: 'probe',
      firstEnvId: 4 * worker,
      slots: 4,
      cells: 2,
      keys: [{ key: 'vector', dtype: 'f32', elements: 4, shape: [4], low: -1, high: 1 }],
      action: { dtype: 'i32', length: 1 },
      autoreset: 'disabled',
    },
  ],
});

test('threads of one process load the addon side by side and end their beats however they end', WATCHDOG, async () => {
  // Goal: four threads map, beat and publish at once; whether a thread returns, throws, exits, closes or is terminated, its beat is over
  // when it is gone, and the main thread goes on with its own.
  const memory = createNativeMemory();
  const ends: readonly BeatingData['end'][] = ['return', 'close', 'throw', 'exit', 'wait'];
  const control = memory.createControl(ends.length + 1);
  const stopOwn = control.beat(ends.length, 1);
  const segments = ends.map((_, worker) => memory.createSegment(specOf(worker)));
  for (const segment of segments) segment.allocate(0, 1);
  const threads = ends.map((end, i) => {
    const segment = segments[i] as (typeof segments)[number];
    const data: BeatingData = { spec: segment.spec, segmentFd: segment.fd, controlFd: control.fd, lines: ends.length + 1, end };
    return new Worker(BOOT, { eval: true, workerData: data });
  });
  const gone = threads.map((thread) => {
    thread.on('error', () => undefined);
    return new Promise<number>((done) => thread.on('exit', done));
  });
  await until(() => segments.every((segment) => segment.scan(0).published === 4) && control.progress(4).nativeMs > 0);
  const before = control.progress(4).nativeMs;
  await until(() => control.progress(4).nativeMs > before);
  await threads[4]?.terminate();
  assert.deepEqual(await Promise.all(gone), [0, 0, 1, 7, 1]);
  const stamps = () => ends.map((_, worker) => control.progress(worker).nativeMs);
  const last = stamps();
  assert.ok(last.every((stamp) => stamp > 0));
  const own = control.progress(ends.length).nativeMs;
  await until(() => control.progress(ends.length).nativeMs > own + 20);
  assert.deepEqual(stamps(), last, 'a thread that is gone beats no more');
  stopOwn();
  for (const segment of segments) segment.close();
  control.close();
});

test('a beat goes on when nobody holds the page that it was started on', WATCHDOG, async () => {
  // Goal: garbage collection is no death.
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const { fd } = createNativeMemory().createControl(1);
  const watch = createNativeMemory().attachControl(1, fd);
  createNativeMemory().attachControl(1, fd).beat(0, 1);
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await new Promise(setImmediate); // finalizers run between tasks
  }
  const seen = watch.progress(0).nativeMs;
  await until(() => watch.progress(0).nativeMs > seen);
});

const start = (control: number, mode: string): ChildProcess =>
  spawn(process.execPath, ['--import', 'tsx', PROCESS, mode], { stdio: ['ignore', 'inherit', 'inherit', control] });

test('a beat goes on while the event loop is blocked and stops while the process is stopped', WATCHDOG, async () => {
  // Goal: the native stamp says what the kernel lets the process do, and nothing of what JavaScript does.
  const control = createNativeMemory().createControl(2);
  const child = start(control.fd, 'spin');
  const exited = once(child, 'exit');
  await until(() => control.progress(0).loopMs > 0 && control.progress(0).nativeMs > control.progress(0).loopMs + 50);
  const { loopMs } = control.progress(0);
  child.kill('SIGSTOP');
  await until(async () => {
    const seen = control.progress(0).nativeMs;
    await new Promise((done) => setTimeout(done, 100));
    return control.progress(0).nativeMs === seen;
  });
  const stopped = control.progress(0).nativeMs;
  child.kill('SIGCONT');
  await until(() => control.progress(0).nativeMs > stopped);
  assert.equal(control.progress(0).loopMs, loopMs, 'the loop never turned again');
  child.kill('SIGKILL');
  await exited;
  control.close();
});

for (const [mode, code] of [
  ['end', 0],
  ['exit', 5],
  ['throw', 1],
] as const) {
  test(`a beat does not keep a process alive that wants to ${mode}`, WATCHDOG, async () => {
    // Goal: the process ends by itself, with its own exit code, and without a word on stderr that is not its own.
    const control = createNativeMemory().createControl(2);
    const child = spawn(process.execPath, ['--import', 'tsx', PROCESS, mode], { stdio: ['ignore', 'ignore', 'pipe', control.fd] });
    let said = '';
    child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
    const [exit, signal] = (await once(child, 'close')) as [number | null, string | null];
    assert.deepEqual([exit, signal], [code, null], said);
    assert.ok(control.progress(0).nativeMs > 0);
    assert.equal(mode === 'throw' ? /its own error/.test(said) : said === '', true, said);
    control.close();
  });
}
