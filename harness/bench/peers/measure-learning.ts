// Seconds and steps until PPO has learned CartPole: one fresh process per seed and contender, seeds in rounds, contenders in random order.
import { LEARNED_EPISODES, LEARNED_RETURN } from '../learn-to-return.js';
import { launchPeer } from './launch-peer.js';
import { ANSWER_GRACE_MS, type PeerContext, READY_LIMIT_MS } from './peer-context.js';
import { dash, type PeerEntry, type Sample } from './peer-entry.js';
import type { Contender, PeerRow } from './peer-rows.js';
import { roundOrder } from './round-order.js';

const SEEDS = [1, 2, 3];
const LIMIT_S = 180;
const QUICK_LIMIT_S = 20;

type Learned = { readonly sample: Sample | null; readonly note: string } | { readonly reason: string };

async function learnOnce(context: PeerContext, contender: Contender, seed: number): Promise<Learned> {
  const launched = launchPeer(contender, context.venvOf, { seed });
  if ('reason' in launched) return launched;
  const { peer } = launched;
  const limitS = context.quick ? QUICK_LIMIT_S : LIMIT_S;
  try {
    await peer.expect('ready', READY_LIMIT_MS);
    context.load.start();
    const cpu = peer.cpuSeconds();
    const began = performance.now();
    peer.order(`learn ${LEARNED_RETURN} ${LEARNED_EPISODES} ${limitS}`);
    const { steps, seconds } = await peer.expect('learned', limitS * 1000 + ANSWER_GRACE_MS);
    const foreignCores = context.load.foreignCores();
    const cores = (peer.cpuSeconds() - cpu) / ((performance.now() - began) / 1000);
    if (seconds === null) return { sample: null, note: `seed ${seed}: not reached in ${limitS} s` };
    return {
      sample: { value: seconds, foreignCores, cores, extra: { steps } },
      note: `seed ${seed}: ${steps.toLocaleString('en-US')} steps`,
    };
  } finally {
    await peer.close();
  }
}

/** Measures the row; a seed that does not reach the return leaves a hole in the samples and a word in the note. */
export async function measureLearning(context: PeerContext, row: PeerRow): Promise<PeerEntry[]> {
  const entries = new Map<string, PeerEntry>();
  const seeds = context.quick ? SEEDS.slice(0, 1) : SEEDS;
  for (const [round, seed] of seeds.entries()) {
    for (const index of roundOrder(row.contenders.length, round, context.seed)) {
      const contender = row.contenders[index] as Contender;
      const sofar = entries.get(contender.id) ?? { ...dash(contender, ''), reason: null };
      if (sofar.reason !== null) continue;
      let entry: PeerEntry;
      try {
        const learned = await learnOnce(context, contender, seed);
        if ('reason' in learned) entry = dash(contender, learned.reason);
        else {
          const note = [sofar.note, learned.note].filter((part) => part !== '').join('; ');
          entry = { ...sofar, samples: [...sofar.samples, learned.sample], note };
          context.say(`${row.name}: ${contender.label}: ${learned.note}, ${learned.sample?.value.toFixed(1) ?? '-'} s`);
        }
      } catch (error) {
        entry = dash(contender, (error as Error).message, true);
      }
      entries.set(contender.id, entry);
    }
  }
  return row.contenders.map((contender) => {
    const entry = entries.get(contender.id) ?? dash(contender, 'was not measured', true);
    return entry.reason === null && entry.samples.every((sample) => sample === null) ? { ...entry, reason: entry.note } : entry;
  });
}
