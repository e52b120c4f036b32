// What one hundred more environments cost besides their observations: descriptors, and bytes of bookkeeping (control words, actions, JS
// objects, per-row memory of the reader). Taken as the slope between two sizes, so that what every process costs anyway cancels out.
import { DTYPE_BYTES } from '../../contract/dtype.js';
import { type Bench, countedRow, type Row } from '../bench.js';
import { type EnvRig, raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { anonymousBytes, openFds } from '../process-counts.js';

/** Both sizes lie beyond the point where V8 has grown its nursery to full size; below it the slope would count the nursery. */
const FEW = 49_000;
/** Far apart: the V8 heap breathes by megabytes, and a difference must be large against that. */
const MANY = 147_000;

interface Footprint {
  readonly fds: number;
  readonly bookkeepingBytes: number;
}

/** Cells of all observation planes: the data itself, not bookkeeping. */
function observationBytes(rig: EnvRig): number {
  return rig.segment.spec.blocks.reduce((sum, block) => {
    const cellBytes = block.keys.reduce((bytes, key) => bytes + key.elements * DTYPE_BYTES[key.dtype], 0);
    return sum + block.slots * block.cells * cellBytes;
  }, 0);
}

async function footprintAt(envs: number, consumeMs: number): Promise<Footprint> {
  // The same batch limit at both sizes: batch matrices are data too.
  const rig = await raiseEnvRig({ kind: 'noop', envs, outputs: floatOutput('vector'), batchLimit: 3500 });
  try {
    rig.consume(consumeMs);
    const pids = [process.pid, rig.workerPid];
    const anonymous = pids.reduce((sum, pid) => sum + anonymousBytes(pid), 0);
    return {
      fds: pids.reduce((sum, pid) => sum + openFds(pid), 0),
      bookkeepingBytes: anonymous + rig.segment.bytes - observationBytes(rig),
    };
  } finally {
    await rig.close();
  }
}

/** fds_per_100_envs and bookkeeping_kb_per_100_envs. */
export const footprintBench: Bench = {
  suite: 'process',
  rows: ['fds_per_100_envs', 'bookkeeping_kb_per_100_envs'],
  async run(context): Promise<Row[]> {
    const consumeMs = context.quick ? 50 : 500;
    // Once for the compiled code and heap that the first use leaves behind in this process.
    await footprintAt(FEW, consumeMs);
    const few = await footprintAt(FEW, consumeMs);
    const many = await footprintAt(MANY, consumeMs);
    const hundreds = (MANY - FEW) / 100;
    const note = `slope from ${FEW.toLocaleString('en-US')} to ${MANY.toLocaleString('en-US')} noop envs, worker + consumer`;
    return [
      countedRow('fds_per_100_envs', (many.fds - few.fds) / hundreds, `${note}; ${few.fds} in all at ${FEW.toLocaleString('en-US')}`),
      countedRow('bookkeeping_kb_per_100_envs', (many.bookkeepingBytes - few.bookkeepingBytes) / hundreds / 1000, note),
    ];
  },
};
