// Rates: every contender's process is up at once and stands still (SIGSTOP) but for the one that is measured. In each round each has one
// window, in random order; a window disturbed by other work is taken again, as far as the row's re-takes reach.
import { MAX_FOREIGN_CORES, waitForQuiet } from '../windows.js';
import { launchPeer } from './launch-peer.js';
import { ANSWER_GRACE_MS, type PeerContext, READY_LIMIT_MS } from './peer-context.js';
import { dash, type PeerEntry, type Sample } from './peer-entry.js';
import type { PeerProcess } from './peer-process.js';
import type { Contender, PeerRow } from './peer-rows.js';
import { roundOrder } from './round-order.js';

const ROUNDS = 6;
const WINDOW_S = 1;
/** An update of the PPO rows takes up to a second. */
const TRAINING_WINDOW_S = 3;

interface Standing {
  readonly contender: Contender;
  readonly peer: PeerProcess;
  readonly versions: Readonly<Record<string, string>>;
  readonly samples: (Sample | null)[];
}

export interface Retakes {
  left: number;
}

async function raise(context: PeerContext, contender: Contender): Promise<Standing | PeerEntry> {
  const launched = launchPeer(contender, context.venvOf);
  if ('reason' in launched) return dash(contender, launched.reason);
  const { peer } = launched;
  try {
    const { versions } = await peer.expect('ready', READY_LIMIT_MS);
    peer.pause();
    return { contender, peer, versions, samples: [] };
  } catch (error) {
    await peer.close();
    return dash(contender, (error as Error).message, true);
  }
}

async function window(context: PeerContext, { peer }: Standing, seconds: number): Promise<Sample> {
  peer.resume();
  const cpu = peer.cpuSeconds();
  const began = performance.now();
  context.load.start();
  peer.order(`window ${seconds}`);
  const took = await peer.expect('window', seconds * 1000 + ANSWER_GRACE_MS);
  const foreignCores = context.load.foreignCores();
  const cores = (peer.cpuSeconds() - cpu) / ((performance.now() - began) / 1000);
  peer.pause();
  return { value: took.steps / took.seconds, foreignCores, cores, extra: {} };
}

/** One window, taken again while it is disturbed and re-takes are left; the least disturbed one stays. */
async function quietWindow(
  context: PeerContext,
  standing: Standing,
  seconds: number,
  retakes: Retakes,
  patienceMs: number,
): Promise<Sample> {
  let best: Sample | null = null;
  for (;;) {
    if (patienceMs > 0) await waitForQuiet(context.load, patienceMs);
    const sample = await window(context, standing, seconds);
    if (best === null || sample.foreignCores < best.foreignCores) best = sample;
    if (best.foreignCores <= MAX_FOREIGN_CORES || retakes.left <= 0) return best;
    retakes.left--;
  }
}

/** Measures one row. What a contender throws is its own dash; the others go on. */
export async function measureWindows(context: PeerContext, row: PeerRow): Promise<PeerEntry[]> {
  const training = row.contenders.some(({ driver }) => driver === 'training.py');
  const seconds = context.quick ? 0.2 : training ? TRAINING_WINDOW_S : WINDOW_S;
  const rounds = context.quick ? 1 : ROUNDS;
  const standing = new Map<string, Standing>();
  const entries = new Map<string, PeerEntry>();
  try {
    for (const contender of row.contenders) {
      const raised = await raise(context, contender);
      if ('peer' in raised) standing.set(contender.id, raised);
      else entries.set(contender.id, raised);
    }
    const retakes = { left: context.retake ? rounds * standing.size : 0 };
    for (let round = 0; round < rounds; round++) {
      for (const index of roundOrder(row.contenders.length, round, context.seed)) {
        const one = standing.get(row.contenders[index]?.id ?? '');
        if (one === undefined) continue;
        try {
          const sample = await quietWindow(context, one, seconds, retakes, context.patienceMs / rounds);
          one.samples.push(sample);
          context.say(
            `${row.name}: ${one.contender.label}: ${Math.round(sample.value)} ${row.unit}, foreign ${sample.foreignCores.toFixed(2)}`,
          );
        } catch (error) {
          standing.delete(one.contender.id);
          entries.set(one.contender.id, dash(one.contender, (error as Error).message, true));
          await one.peer.close();
        }
      }
    }
    for (const [id, { contender, peer, samples, versions }] of standing) {
      entries.set(id, { ...dash(contender, ''), samples, versions, pssBytes: peer.pssBytes(), reason: null });
    }
  } finally {
    for (const { peer } of standing.values()) await peer.close();
  }
  return row.contenders.map((contender) => entries.get(contender.id) ?? dash(contender, 'was not measured', true));
}
