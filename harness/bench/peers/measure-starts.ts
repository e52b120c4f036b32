// Start-up and memory: in each round each contender starts once, as a fresh process; its start is the time to build and to hand over the
// first full batch, imports apart; its memory is the PSS of all its processes right then.
import { MAX_FOREIGN_CORES, waitForQuiet } from '../windows.js';
import { launchPeer } from './launch-peer.js';
import type { Retakes } from './measure-windows.js';
import { type PeerContext, READY_LIMIT_MS } from './peer-context.js';
import { dash, type PeerEntry, type Sample } from './peer-entry.js';
import type { Contender, PeerRow } from './peer-rows.js';
import { roundOrder } from './round-order.js';

const ROUNDS = 6;

interface Start {
  readonly sample: Sample;
  readonly versions: Readonly<Record<string, string>>;
}

async function startOnce(context: PeerContext, contender: Contender): Promise<Start | { readonly reason: string }> {
  context.load.start();
  const launched = launchPeer(contender, context.venvOf);
  if ('reason' in launched) return launched;
  const { peer } = launched;
  try {
    const { startS, importS, versions } = await peer.expect('ready', READY_LIMIT_MS);
    const foreignCores = context.load.foreignCores();
    const pids = peer.pids();
    const extra = { importS, pssBytes: peer.pssBytes(), processes: pids.length };
    return { sample: { value: startS, foreignCores, cores: null, extra }, versions };
  } finally {
    await peer.close();
  }
}

async function quietStart(
  context: PeerContext,
  contender: Contender,
  retakes: Retakes,
  patienceMs: number,
): Promise<Start | { readonly reason: string }> {
  let best: Start | null = null;
  for (;;) {
    if (patienceMs > 0) await waitForQuiet(context.load, patienceMs);
    const start = await startOnce(context, contender);
    if ('reason' in start) return start;
    if (best === null || start.sample.foreignCores < best.sample.foreignCores) best = start;
    if (best.sample.foreignCores <= MAX_FOREIGN_CORES || retakes.left <= 0) return best;
    retakes.left--;
  }
}

/** Measures one row: every sample's `extra` holds seconds of imports, bytes and processes. */
export async function measureStarts(context: PeerContext, row: PeerRow): Promise<PeerEntry[]> {
  const rounds = context.quick ? 1 : ROUNDS;
  const entries = new Map<string, PeerEntry>();
  // A start is seconds of work: one more try for every second one.
  const retakes = { left: context.retake ? Math.ceil((rounds * row.contenders.length) / 2) : 0 };
  for (let round = 0; round < rounds; round++) {
    for (const index of roundOrder(row.contenders.length, round, context.seed)) {
      const contender = row.contenders[index] as Contender;
      const sofar = entries.get(contender.id);
      if (sofar !== undefined && sofar.reason !== null) continue;
      let entry: PeerEntry;
      try {
        const start = await quietStart(context, contender, retakes, context.patienceMs / rounds);
        if ('reason' in start) entry = dash(contender, start.reason);
        else {
          const samples = [...(sofar?.samples ?? []), start.sample];
          entry = { ...dash(contender, ''), reason: null, samples, versions: start.versions };
          context.say(
            `${row.name}: ${contender.label}: ${start.sample.value.toFixed(3)} s, foreign ${start.sample.foreignCores.toFixed(2)}`,
          );
        }
      } catch (error) {
        entry = dash(contender, (error as Error).message, true);
      }
      entries.set(contender.id, entry);
    }
  }
  return row.contenders.map((contender) => entries.get(contender.id) ?? dash(contender, 'was not measured', true));
}

/** The memory row that the same starts gave. */
export function memoryRow(row: PeerRow, entries: readonly PeerEntry[]): { readonly row: PeerRow; readonly entries: PeerEntry[] } {
  return {
    row: {
      ...row,
      name: row.name.replace('start', 'memory'),
      title: `${row.title.split(', to')[0]}, PSS of all processes after it`,
      unit: 'MB',
    },
    entries: entries.map((entry) => ({
      ...entry,
      samples: entry.samples.map((sample) => sample && { ...sample, value: (sample.extra.pssBytes ?? Number.NaN) / 1e6 }),
    })),
  };
}
