// What each does when an env goes bad: the fault's driver says the stages it enters and leaves; this side waits a bound for each, calls
// silence a hang, looks whether it spins, kills it and counts what it leaves behind.
import { type FaultStory, outcomeOf, tellStory } from './fault-story.js';
import { launchPeer } from './launch-peer.js';
import type { AnswerOf } from './peer-answer.js';
import { type PeerContext, READY_LIMIT_MS } from './peer-context.js';
import { dash, type PeerEntry } from './peer-entry.js';
import type { PeerProcess } from './peer-process.js';
import type { Contender, PeerRow } from './peer-rows.js';

/** A call that is not back by then hangs. Five times what a pool that goes on is watched. */
const STAGE_LIMIT_MS = 10_000;
const QUICK_STAGE_LIMIT_MS = 4000;
/** Orphans that see their pipe close need a moment to leave. */
const ORPHAN_MS = 2000;
/** The bound of envladder's own observation (own-fault.ts), and its stop. */
const OWN_LIMIT_MS = 90_000;

async function follow(peer: PeerProcess, limitMs: number): Promise<FaultStory> {
  const stages: AnswerOf<'stage'>[] = [];
  for (;;) {
    const cpu = peer.cpuSeconds();
    const began = performance.now();
    const answer = await peer.next(limitMs);
    const seconds = (performance.now() - began) / 1000;
    if (answer === null) {
      const cores = Math.max(0, peer.cpuSeconds() - cpu) / seconds;
      const stage = stages.at(-1)?.stage ?? 'step';
      return { stages, hang: { stage, seconds, cores }, orphans: await peer.killDriver(ORPHAN_MS) };
    }
    if (answer.type !== 'stage') throw new Error(`${peer.label}: answered '${answer.type}' where a stage was due`);
    stages.push(answer);
    if (answer.stage === 'end') return { stages, hang: null, orphans: null };
  }
}

async function observe(context: PeerContext, contender: Contender): Promise<PeerEntry> {
  const launched = launchPeer(contender, context.venvOf);
  if ('reason' in launched) return dash(contender, launched.reason);
  const { peer } = launched;
  const seen = (outcome: string, text: string): PeerEntry => ({ ...dash(contender, ''), reason: null, note: `${outcome}. ${text}` });
  try {
    await peer.expect('ready', READY_LIMIT_MS);
    peer.order('go');
    if (contender.driver === 'own') {
      const { good, text } = await peer.expect('observed', OWN_LIMIT_MS);
      return seen(good ? 'recovers' : 'does not recover', text);
    }
    const story = await follow(peer, context.quick ? QUICK_STAGE_LIMIT_MS : STAGE_LIMIT_MS);
    return seen(outcomeOf(story), tellStory(story));
  } catch (error) {
    return dash(contender, (error as Error).message, true);
  } finally {
    await peer.close();
  }
}

/** Observes one fault for every contender, one after the other. */
export async function measureFaults(context: PeerContext, row: PeerRow): Promise<PeerEntry[]> {
  const entries: PeerEntry[] = [];
  for (const contender of row.contenders) {
    const entry = await observe(context, contender);
    if (contender.no === null) context.say(`${row.name}: ${contender.label}: ${entry.reason ?? entry.note}`);
    entries.push(entry);
  }
  return entries;
}
