// "With a lock 12,000 observations a second, with the flip 48,000": the same frames read by one thread while another writes, through a lock per
// env, one lock for all, the flip, a checked sequence and a lease; small frames and the account's large ones.
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { interleaveSlots, type SlotPair } from '../rigs/slot-run.js';
import { SCHEMES, type Scheme } from '../rigs/slot-schemes.js';

const FRAMES = [
  { id: 'small', bytes: 768, envs: 256, reads: 200_000 },
  { id: 'large', bytes: 224 * 224 * 3 * 4, envs: 16, reads: 2000 },
] as const;
const LIMIT_MS = 20_000;

async function takeSide(context: ClaimContext, pair: SlotPair, scheme: Scheme): Promise<Taken> {
  const taken: Record<string, number> = {};
  for (const { id, bytes, envs, reads } of FRAMES) {
    if (context.signal.aborted) break;
    const run = await pair.run({
      scheme,
      envs: context.pick({ full: envs, quick: envs, tiny: 4 }),
      frameBytes: bytes,
      stepMs: 0,
      holdMs: 0,
      reads: Math.max(20, Math.round(reads * context.pick({ full: 1, quick: 0.25, tiny: 0.005 }))),
      limitMs: LIMIT_MS,
    });
    taken[`read-${id}`] = run.reads / run.seconds;
    taken[`fresh-${id}`] = run.fresh / run.seconds;
    taken[`torn-${id}`] = (run.torn / Math.max(1, run.reads)) * 1e6;
  }
  return taken;
}

async function run(context: ClaimContext): Promise<Measured> {
  const samples = await interleaveSlots(context, SCHEMES, takeSide);
  return {
    samples,
    conditions: Object.fromEntries(
      FRAMES.map(({ id, bytes, envs }) => [
        `${id} frames`,
        `${bytes.toLocaleString('en-US')} bytes, ${context.pick({ full: envs, quick: envs, tiny: 4 })} envs`,
      ]),
    ),
    notes: [
      'Read counts every read, also of a frame that was read before; fresh counts frames not read before, which is what a learner can use.',
    ],
  };
}

export const lockVsFlip: Claim = {
  id: 'lock-vs-flip',
  said: { text: 'a lock gives 12,000 observations a second, the flipped pointer 48,000', value: 4, unit: 'times' },
  question: 'How many observations a second does a reader get through a lock, a flip, a sequence and a lease?',
  register: () => ({
    sides: [
      { name: 'lock-per-env', role: 'account', what: 'a futex mutex per env around writing and around reading' },
      { name: 'one-lock', role: 'account', what: 'one futex mutex for all envs' },
      { name: 'flip', role: 'account', what: 'two buffers and a 0/1 pointer' },
      { name: 'sequence', role: 'envladder', what: 'a rising number; the reader copies and checks it, and reads again what moved on' },
      { name: 'lease', role: 'envladder', what: 'each frame is read exactly once; the writer waits for the reader' },
    ],
    metrics: FRAMES.flatMap(({ id }) => [
      { id: `read-${id}`, name: `read, ${id} frames`, unit: 'obs/s', better: 'higher' as const, kind: 'rate' as const },
      { id: `fresh-${id}`, name: `fresh, ${id} frames`, unit: 'obs/s', better: 'higher' as const, kind: 'rate' as const },
      { id: `torn-${id}`, name: `torn, ${id} frames`, unit: 'per million reads', better: 'lower' as const, kind: 'share' as const },
    ]),
    rule: 'held when the flip reads at least 4 times as many observations a second as the lock per env, with small frames and with large ones',
    rules: FRAMES.map(({ id }) => ({
      type: 'ratio' as const,
      metric: `read-${id}`,
      side: 'flip',
      to: 'lock-per-env',
      relation: 'at-least' as const,
      bound: 4,
    })),
    tests: 'direction',
    method:
      'One writer thread that never rests and one reader thread, over all envs in turn; every side copies the same bytes and checks every word.',
  }),
  needs: () => null,
  run,
};
