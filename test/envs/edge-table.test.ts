import { DONE, FINAL, FIRST } from '../../harness/contract/frame-flags.js';
import { createLocalRange } from '../../harness/envs/local-range.js';
import { type EdgeEpisode, type EdgeFrame, type EdgeHarness, runEdgeTable } from './edge-table.js';

// The in-process range has no reader of its own: frames are read where they lie, and episodes are added up as a reader must.
runEdgeTable('local', (kind, options): EdgeHarness => {
  const port = createLocalRange(kind, options);
  const total = new Float64Array(options.slots);
  const length = new Int32Array(options.slots);
  return {
    port,
    collect() {
      const frames: EdgeFrame[] = [];
      const episodes: EdgeEpisode[] = [];
      for (let slot = 0; slot < options.slots; slot++) {
        const flags = port.lastFlags[slot] as number;
        const reward = port.lastReward[slot] as number;
        const copy = (obs: Readonly<Record<string, ArrayLike<number>>>): number[] => Array.from(obs.vector as ArrayLike<number>);
        frames.push({
          slot,
          obs: copy(port.newest(slot)),
          reward,
          flags,
          final: (flags & FINAL) === 0 ? undefined : copy(port.finals(slot)),
        });
        if ((flags & FIRST) !== 0) {
          total[slot] = length[slot] = 0;
          continue;
        }
        total[slot] = (total[slot] as number) + reward;
        length[slot] = (length[slot] as number) + 1;
        if ((flags & DONE) === 0) continue;
        episodes.push({ slot, total: total[slot] as number, length: length[slot] as number });
        total[slot] = length[slot] = 0;
      }
      return { frames, episodes };
    },
    answer(slots, reset) {
      if (reset) for (const slot of slots) port.commandReset(slot);
    },
    close() {},
  };
});
