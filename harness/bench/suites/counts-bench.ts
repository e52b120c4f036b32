// What a step costs in things that can be counted: bytes copied, JS heap, read and write calls, messages. No load of the machine changes a
// count, so these rows are exact and their bars are, too: one call more a step is a change of the design and shows at once.
import { setImmediate as turn } from 'node:timers/promises';
import { type Bench, countedRow, type Row, skippedRow } from '../bench.js';
import { type BlockRig, createBlockRig, PHASES } from '../block-rig.js';
import { type EnvRig, raiseEnvRig } from '../env-rig.js';
import { floatOutput } from '../outputs.js';
import { ownIoCalls } from '../process-counts.js';

const SLOTS = 7000;
const ROUNDS = 300;
/** Short enough that the nursery does not fill up meanwhile where a round allocates next to nothing. */
const HEAP_ROUNDS = 20;
const HEAP_TRIES = 10;
const IO_ROUNDS = 50;
const IO_TRIES = 6;
/** Reports come once a second; a worker that sends none for so long is stuck. */
const REPORT_LIMIT_MS = 60_000;
const MESSAGE_MS = 500;

function runRounds(rig: BlockRig, rounds: number): void {
  for (let phase = 0; phase < rounds * PHASES.length; phase++) rig.step();
}

/** Whole bytes of JS heap a step: the least of several tries, since a collection in between would hide what was allocated. */
function heapBytesPerStep(rig: BlockRig): number {
  const tries = Array.from({ length: HEAP_TRIES }, () => {
    const before = process.memoryUsage().heapUsed;
    runRounds(rig, HEAP_ROUNDS);
    return process.memoryUsage().heapUsed - before;
  }).filter((bytes) => bytes >= 0);
  // A collection in every try: then more than the nursery was allocated each time.
  return tries.length === 0 ? Number.POSITIVE_INFINITY : Math.round(Math.min(...tries) / (HEAP_ROUNDS * SLOTS));
}

/** Read and write calls a million steps, less those of the asking: the least of several tries, since Node's own threads read now and then. */
function ioCallsPerMillion(rig: BlockRig): number | null {
  const tries = Array.from({ length: IO_TRIES }, () => {
    const first = ownIoCalls();
    const second = ownIoCalls();
    runRounds(rig, IO_ROUNDS);
    const third = ownIoCalls();
    return first === null || second === null || third === null ? Number.NaN : third - second - (second - first);
  });
  const least = Math.max(0, Math.min(...tries));
  return Number.isNaN(least) ? null : (least / (IO_ROUNDS * SLOTS)) * 1e6;
}

/** Waits for a report sent after this call: whatever was sent before it has arrived then. */
async function hearReport(rig: EnvRig): Promise<void> {
  const reports = rig.messages.get('report') ?? 0;
  const end = performance.now() + REPORT_LIMIT_MS;
  while ((rig.messages.get('report') ?? 0) < reports + 2) {
    if (performance.now() > end) throw new Error(`the worker sent no report within ${REPORT_LIMIT_MS / 1000} s`);
    await turn();
  }
}

/** Messages other than the report of each second, per million steps of a worker process and its consumer. */
async function messagesPerMillion(windowMs: number): Promise<{ readonly value: number; readonly steps: number }> {
  const rig = await raiseEnvRig({ kind: 'noop', envs: SLOTS, outputs: floatOutput('vector') });
  const heard = (): number => [...rig.messages].reduce((sum, [type, count]) => sum + (type === 'report' ? 0 : count), 0);
  try {
    await hearReport(rig);
    const before = heard();
    const { frames } = rig.consume(windowMs);
    await hearReport(rig);
    return { value: ((heard() - before) / frames) * 1e6, steps: frames };
  } finally {
    await rig.close();
  }
}

/** The four count rows. */
export const countsBench: Bench = {
  suite: 'micro',
  rows: ['copied_bytes_per_step', 'heap_bytes_per_step', 'io_calls_per_million_steps', 'messages_per_million_steps'],
  async run(context): Promise<Row[]> {
    const rig = await createBlockRig(SLOTS, { kind: 'noop' }, floatOutput('vector'));
    const rows: Row[] = [];
    try {
      // Compiled code and inline caches are allocated once.
      runRounds(rig, ROUNDS);
      const before = rig.reader.stats.bytesCopied;
      runRounds(rig, ROUNDS);
      const steps = ROUNDS * SLOTS;
      const note = `claim, publish, collect, act of ${SLOTS} slots, 64 floats each, one process`;
      rows.push(countedRow('copied_bytes_per_step', (rig.reader.stats.bytesCopied - before) / steps, note));
      rows.push(countedRow('heap_bytes_per_step', heapBytesPerStep(rig), `${note}; whole bytes`));
      const calls = ioCallsPerMillion(rig);
      rows.push(
        calls === null
          ? skippedRow('io_calls_per_million_steps', 'the kernel does not count them (/proc/self/io)')
          : countedRow('io_calls_per_million_steps', calls, `${note}; reads and writes, /proc/self/io`),
      );
    } finally {
      rig.close();
    }
    const { value, steps } = await messagesPerMillion(context.quick ? MESSAGE_MS / 5 : MESSAGE_MS);
    rows.push(
      countedRow(
        'messages_per_million_steps',
        value,
        `worker to consumer, but for a report a second; ${steps.toLocaleString('en-US')} steps`,
      ),
    );
    return rows;
  },
};
