// The gather of large observations against a bare memcpy loop: 256 frames of 224x224x3 bytes, the same source cells, the same target,
// one thread, taken in turn so that both see the same caches.
import { loadNative } from '../../../native/index.js';
import type { Bench, Row } from '../bench.js';
import { createBlockRig } from '../block-rig.js';
import { estimate } from '../estimate.js';
import { rowFrom, takeWindows } from '../windows.js';

const FRAMES = 256;
const RGB = 'rgb';

interface Sample {
  readonly gatherNs: number;
  readonly memcpyNs: number;
}

/** gather_rgb_vs_memcpy and both sides in GB/s. */
export const gatherBench: Bench = {
  suite: 'micro',
  rows: ['gather_rgb_vs_memcpy', 'gather_rgb_gb_s', 'memcpy_rgb_gb_s'],
  async run(context): Promise<Row[]> {
    const addon = loadNative();
    const rig = await createBlockRig(FRAMES, { kind: 'field' }, [{ name: RGB, raw: RGB }]);
    const cellBytes = rig.spec.keys.find((key) => key.key === RGB)?.elements ?? 0;
    const plane = rig.writer.range.obs[RGB] as Uint8Array;
    const target = rig.reader.outputs[RGB] as Uint8Array;
    const timed = (body: () => void): number => {
      const start = performance.now();
      body();
      return (performance.now() - start) * 1e6;
    };
    const memcpyNs = (): number => {
      // The cells that collect reads now: all slots stand at the same ring position.
      const cell = (rig.writer.range.cell[0] as number) % rig.spec.cells;
      const source = plane.subarray(cell * cellBytes);
      return timed(() => addon.memcpyRows(target, source, cellBytes, FRAMES, rig.spec.cells * cellBytes));
    };
    const gatherNs = (): number => timed(rig.step);
    try {
      const windows = await takeWindows<Sample>(context, { windows: context.quick ? 2 : 7, label: 'gather_rgb_vs_memcpy' }, () => {
        const gathers: number[] = [];
        const copies: number[] = [];
        for (let round = 0; round < (context.quick ? 4 : 40); round++) {
          rig.advanceTo('collect');
          // Whoever comes second finds its source in the cache: they swap.
          if (round % 2 === 0) gathers.push(gatherNs());
          copies.push(memcpyNs());
          if (round % 2 === 1) gathers.push(gatherNs());
        }
        return { gatherNs: estimate(gathers).value, memcpyNs: estimate(copies).value };
      });
      const bytes = FRAMES * cellBytes;
      const note = `${FRAMES} x ${cellBytes.toLocaleString('en-US')} B, one thread`;
      return [
        rowFrom('gather_rgb_vs_memcpy', windows, (sample) => sample.gatherNs / sample.memcpyNs, note),
        rowFrom('gather_rgb_gb_s', windows, (sample) => bytes / sample.gatherNs, 'bytes written'),
        rowFrom('memcpy_rgb_gb_s', windows, (sample) => bytes / sample.memcpyNs, 'bytes written'),
      ];
    } finally {
      rig.close();
    }
  },
};
