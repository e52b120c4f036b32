// "Two buffers and an atomic 0/1 pointer: conflicts are next to impossible, zero errors": torn reads of the flip as told, of a sequence that the
// reader checks, and of a lease, with a reader that keeps its view for 0 to 100 times the writer's step.
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';
import { interleaveSlots, type SlotPair } from '../rigs/slot-run.js';
import type { Scheme } from '../rigs/slot-schemes.js';

const STEP_MS = 2;
/** A float32 frame of 224 x 224 x 3. */
const FRAME_BYTES = 224 * 224 * 3 * 4;
const SIDES = ['flip', 'sequence', 'lease'] as const satisfies readonly Scheme[];

interface Condition {
  readonly id: string;
  readonly name: string;
  /** Of a step; null: a writer that never rests, and no hold. */
  readonly holdSteps: number | null;
  /** Reads of a full repeat. */
  readonly reads: number;
}

const CONDITIONS: readonly Condition[] = [
  { id: 'torn-hot', name: 'torn, writer never rests, view read at once', holdSteps: null, reads: 5000 },
  { id: 'torn-hold-0', name: `torn, ${STEP_MS} ms steps, view read at once`, holdSteps: 0, reads: 2000 },
  { id: 'torn-hold-1', name: 'torn, view kept for 1 step', holdSteps: 1, reads: 300 },
  { id: 'torn-hold-3', name: 'torn, view kept for 3 steps', holdSteps: 3, reads: 200 },
  { id: 'torn-hold-100', name: 'torn, view kept for 100 steps', holdSteps: 100, reads: 10 },
];
const LIMIT_MS = 20_000;
const RATE_AT = 'torn-hold-3';

async function takeSide(context: ClaimContext, pair: SlotPair, scheme: Scheme): Promise<Taken> {
  const taken: Record<string, number> = {};
  for (const { id, holdSteps, reads } of CONDITIONS) {
    if (context.signal.aborted) break;
    const run = await pair.run({
      scheme,
      envs: 1,
      frameBytes: context.pick({ full: FRAME_BYTES, quick: FRAME_BYTES, tiny: 64 * 1024 }),
      stepMs: holdSteps === null ? 0 : STEP_MS,
      holdMs: (holdSteps ?? 0) * STEP_MS,
      reads: Math.max(2, Math.round(reads * context.pick({ full: 1, quick: 0.2, tiny: 0.01 }))),
      limitMs: LIMIT_MS,
    });
    taken[id] = run.reads === 0 ? 0 : (run.torn / run.reads) * 1e6;
    if (id === RATE_AT) taken['written-hold-3'] = run.written / run.seconds;
    if (holdSteps === null) taken['refused-hot'] = (run.refused / Math.max(1, run.reads + run.refused)) * 1e6;
  }
  return taken;
}

async function run(context: ClaimContext): Promise<Measured> {
  const samples = await interleaveSlots(context, SIDES, takeSide);
  return {
    samples,
    conditions: {
      frame: `${context.pick({ full: FRAME_BYTES, quick: FRAME_BYTES, tiny: 64 * 1024 }).toLocaleString('en-US')} bytes, every word the frame's number`,
      writer: `one thread, a frame each ${STEP_MS} ms, or without a pause`,
      reader: 'one thread; looks at the first word, keeps the view, then reads the rest',
    },
    notes: [
      'The sequence copies the frame at once and keeps the copy, so keeping it long costs nothing; what its check refuses is read again.',
      'The lease lets the writer wait until the reader is done: its frames a second fall with the hold, as they must when nothing may be lost.',
    ],
  };
}

export const flipSafe: Claim = {
  id: 'flip-safe',
  said: { text: 'double buffering with an atomic 0/1 pointer makes conflicts next to impossible, zero errors', value: 0, unit: 'errors' },
  question: 'How many of a million frames read through a flipped pointer are mixed from two frames?',
  register: () => ({
    sides: [
      {
        name: 'flip',
        role: 'account',
        what: 'two buffers; the writer fills the other one and stores 0 or 1; the reader uses a view of the current one',
      },
      {
        name: 'sequence',
        role: 'envladder',
        what: 'a rising number in place of 0/1; the reader copies, looks at the number again and drops what moved on',
      },
      { name: 'lease', role: 'envladder', what: 'the writer takes a cell only after the reader released it' },
    ],
    metrics: [
      ...CONDITIONS.map(({ id, name }) => ({ id, name, unit: 'per million reads', better: 'lower' as const, kind: 'share' as const })),
      { id: 'written-hold-3', name: 'frames written at a hold of 3 steps', unit: 'frames/s', better: 'higher', kind: 'rate' },
      {
        id: 'refused-hot',
        name: "refused by the reader's check, writer never rests",
        unit: 'per million reads',
        better: 'lower',
        kind: 'share',
      },
    ],
    rule: 'held when not one read of the flip is torn, whatever the reader does with its view',
    rules: CONDITIONS.map(({ id }) => ({ type: 'value' as const, metric: id, side: 'flip', relation: 'at-most' as const, bound: 0 })),
    tests: 'figure',
    method:
      'The same frames, the same two threads, the same pauses; only the way of handing over differs. A read is torn when its words are of two frames.',
  }),
  needs: () => null,
  run,
};
