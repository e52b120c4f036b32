// The table of episode edges over both memories: a block writer steps, a batch reader takes and answers. Batches are smaller than the
// block, so that the place of a frame in its batch is not its slot.
import { FINAL } from '../../harness/contract/frame-flags.js';
import { actionElements, elementCount } from '../../harness/contract/spaces.js';
import type { ResolvedKind } from '../../harness/envs/registry.js';
import type { BlockSpec, Memory } from '../../harness/memory/interface.js';
import { createNativeMemory } from '../../harness/memory/native-memory.js';
import { createTwinMemory } from '../../harness/memory/twin-memory.js';
import { type EdgeEpisode, type EdgeFrame, type EdgeHarness, type MakeEdgeHarness, runEdgeTable } from '../envs/edge-table.js';

const BLOCK = 6;
const BATCH = 2;
/** An answer that says step needs some action; the probe ignores which. */
const ACTION = 1;

function blockOf(kind: ResolvedKind, options: Parameters<MakeEdgeHarness>[1]): BlockSpec {
  const { dtype, length } = actionElements(kind.spaces.action);
  const keys = Object.entries(kind.spaces.observation).map(([key, { dtype: of, shape, low, high }]) => ({
    key,
    dtype: of,
    elements: elementCount(shape),
    shape,
    low,
    high,
  }));
  return { ...options, id: BLOCK, kind: kind.kind.name, cells: 2, keys, action: { dtype: dtype === 'f32' ? 'f32' : 'i32', length } };
}

function harnessOver(make: () => Memory): MakeEdgeHarness {
  return (kind, options): EdgeHarness => {
    const memory = make();
    const spec = blockOf(kind, options);
    const control = memory.createControl(1);
    memory.bindControl(control);
    const segment = memory.createSegment({ runId: 'edge-table', worker: 0, blocks: [spec] });
    segment.allocate(BLOCK, 1);
    const reader = memory.reader({ batchLimit: BATCH, outputs: [{ name: 'vector', raw: 'vector' }], threads: 1 }, control);
    const first = reader.add(segment, BLOCK);
    const elements = spec.keys[0]?.elements ?? 0;
    const row = (matrix: ArrayLike<number> | undefined, i: number): number[] =>
      Array.from(matrix ?? []).slice(i * elements, (i + 1) * elements);
    return {
      port: segment.writer(BLOCK, 0),
      collect() {
        const frames: EdgeFrame[] = [];
        const episodes: EdgeEpisode[] = [];
        for (let n = reader.collect(BATCH); n > 0; n = reader.collect(BATCH)) {
          for (let i = 0; i < n; i++) {
            const flags = reader.flags[i] as number;
            frames.push({
              slot: (reader.rowOf[i] as number) - first,
              obs: row(reader.outputs.vector, i),
              reward: reader.reward[i] as number,
              flags,
              final: (flags & FINAL) === 0 ? undefined : row(reader.finals.vector, i),
            });
          }
          for (let e = 0; e < reader.episodeCount; e++) {
            episodes.push({
              slot: (reader.episodeRow[e] as number) - first,
              total: reader.episodeReturn[e] as number,
              length: reader.episodeLength[e] as number,
            });
          }
        }
        return { frames, episodes };
      },
      answer(slots, reset) {
        const rows = Int32Array.from(slots, (slot) => first + slot);
        if (reset) reader.commandReset(rows.length, rows);
        else reader.act(rows.length, rows, new Int32Array(rows.length * spec.action.length).fill(ACTION));
      },
      close() {
        segment.close();
        control.close();
      },
    };
  };
}

runEdgeTable(
  'native',
  harnessOver(() => createNativeMemory()),
);
runEdgeTable(
  'twin',
  harnessOver(() => createTwinMemory()),
);
