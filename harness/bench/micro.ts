// Micro-benches by tinybench: nanoseconds of one small call. The task batches many calls itself, since a timer read (about 25 ns)
// costs as much as what is measured.
import { Bench as TinyBench } from 'tinybench';
import type { RowName } from './bars.js';
import type { BenchContext, Row } from './bench.js';
import { rowFrom, takeWindows } from './windows.js';

export interface MicroTask {
  readonly name: RowName;
  readonly note: string;
  /** Calls (or slots) inside one run of `body`; the row is time over calls. */
  readonly calls: number;
  /** Nanoseconds -> the row's unit. */
  readonly perUnit?: number;
  body(): void;
  /** Untimed work before each run of `body`. */
  before?(): void;
}

/** Takes the median run of the body in each of several windows. */
export async function runMicroTask(context: BenchContext, task: MicroTask): Promise<Row> {
  const windows = await takeWindows(context, { windows: context.quick ? 2 : 5, label: task.name }, async () => {
    const bench = new TinyBench({ time: context.quick ? 40 : 400, warmupTime: context.quick ? 10 : 100 });
    bench.add(task.name, () => task.body(), task.before === undefined ? {} : { beforeEach: () => task.before?.() });
    await bench.run();
    const result = bench.tasks[0]?.result;
    if (result === undefined || !('latency' in result)) throw new Error(`${task.name}: the task did not complete`);
    return (result.latency.p50 * 1e6) / task.calls / (task.perUnit ?? 1);
  });
  return rowFrom(task.name, windows, (ns) => ns, task.note);
}
