// Shared memory whose reader looks at every frame it hands out: the batch the learner sees is the one that is checked. It also paces the
// learner, so that a rig leaves the machine some air and rates say something. Used by checking-learner.ts, in the learner's process.
import type { TypedArray } from '../contract/dtype.js';
import type { BatchReader, Memory } from '../memory/interface.js';
import type { ReaderOptions } from '../memory/reader-options.js';
import { createFrameCheck, type FrameCheck } from './frame-check.js';

/** The key of the probe's observation. */
const KEY = 'vector';
const RAW = 'chaos-raw';

export interface CheckedMemory {
  readonly memory: Memory;
  /** Sums over all readers. */
  counts(): { frames: number; cells: number; violations: number };
  takeTold(): string[];
}

export interface CheckOptions {
  /** Least time between two batches of a reader, in milliseconds. 0: as fast as it goes. */
  readonly paceMs: number;
  /** Sleeps without turning the event loop. */
  readonly sleepMs: (ms: number) => void;
  readonly nowMs: () => number;
}

/** Wraps `inner`; readers must be over blocks whose only key is the probe's. */
export function checkMemory(inner: Memory, { paceMs, sleepMs, nowMs }: CheckOptions): CheckedMemory {
  const checks: FrameCheck[] = [];

  function checkedReader(options: ReaderOptions, reader: BatchReader): BatchReader {
    const check = createFrameCheck();
    checks.push(check);
    let lastMs = Number.NEGATIVE_INFINITY;
    /** Everything else is the reader's own. */
    return Object.create(reader, {
      add: {
        value: (...[segment, block]: Parameters<BatchReader['add']>) => {
          const spec = segment.spec.blocks.find(({ id }) => id === block);
          const row = reader.add(segment, block);
          if (spec !== undefined) check.addRows(row, spec.slots, spec.firstEnvId);
          return row;
        },
      },
      collect: {
        value: (limit: number) => {
          const waitMs = paceMs - (nowMs() - lastMs);
          if (waitMs > 0) sleepMs(waitMs);
          lastMs = nowMs();
          const count = reader.collect(limit);
          const raw = reader.outputs[RAW] as TypedArray | undefined;
          if (raw === undefined) return count;
          const width = raw.length / options.batchLimit;
          for (let i = 0; i < count; i++) {
            check.see(reader.rowOf[i] as number, reader.flags[i] as number, reader.reward[i] as number, raw, i * width, width);
          }
          return count;
        },
      },
    }) as BatchReader;
  }

  return {
    memory: {
      ...inner,
      reader: (options, control) =>
        checkedReader(options, inner.reader({ ...options, outputs: [...options.outputs, { name: RAW, raw: KEY }] }, control)),
    },
    counts: () =>
      checks.reduce(
        (sum, { frames, cells, violations }) => ({
          frames: sum.frames + frames,
          cells: sum.cells + cells,
          violations: sum.violations + violations,
        }),
        { frames: 0, cells: 0, violations: 0 },
      ),
    takeTold: () => checks.flatMap((check) => check.takeTold()),
  };
}
