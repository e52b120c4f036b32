// "Observations that are not aligned to 64 bytes break atomic operations": an 8-byte word on its own line, one that shares its line with a neighbour
// (aligned to its size, not to 64), and one that lies across two lines. Alignment to 64 ends false sharing; to a word's own size it keeps it whole.
import { availableParallelism } from 'node:os';
import { loadNative } from '../../../native/index.js';
import type { Claim, ClaimContext, Measured, Taken } from '../claim.js';

/** Offsets on a page. Flags are 32-bit words. */
const PLACES = {
  packed: { wordOffset: 8, flagOffsets: [0, 4] },
  'aligned-64': { wordOffset: 64, flagOffsets: [128, 192] },
  'across-lines': { wordOffset: 60, flagOffsets: [0, 4] },
} as const;
type Place = keyof typeof PLACES;

function takeSide(place: Place, ms: number): Taken {
  const { wordOffset, flagOffsets } = PLACES[place];
  const duel = loadNative().duelOverWord(wordOffset, flagOffsets[0], flagOffsets[1], ms);
  return {
    torn: (duel.torn / duel.reads) * 1e6,
    changes: (duel.changes / duel.reads) * 1e6,
    adds: duel.adds / duel.addSeconds / 1e6,
  };
}

async function run(context: ClaimContext): Promise<Measured> {
  const ms = context.pick({ full: 500, quick: 200, tiny: 20 });
  const bodies = (Object.keys(PLACES) as Place[]).map((place) => [place, () => takeSide(place, ms)] as const);
  return {
    samples: await context.interleave(Object.fromEntries(bodies)),
    conditions: {
      time: `${ms} ms of reading and writing, then ${ms} ms of two threads each adding to a flag of its own`,
      word: '8 bytes, written as one of two values by plain stores, read by plain loads',
    },
    notes: [
      'Changes show that the reader sees a living word: torn reads can only be counted against them.',
      'Reader and writer are pinned to two cores. Where these are two threads of one core, adds hardly collide.',
    ],
  };
}

export const align64: Claim = {
  id: 'align-64',
  said: { text: 'observations must be aligned to 64 bytes, or atomic operations on them break', value: null, unit: '' },
  question: 'Does a word tear, or a flag slow down, when it is not on a cache line of its own?',
  register: () => ({
    sides: [
      { name: 'packed', role: 'account', what: 'word and flags side by side in one line: aligned to their size, not to 64 bytes' },
      { name: 'aligned-64', role: 'envladder', what: 'word and flags 64 bytes apart, as every control line of a segment is' },
      {
        name: 'across-lines',
        role: 'reference',
        what: 'the word begins 4 bytes before the end of a line: not even aligned to its own size',
      },
    ],
    metrics: [
      { id: 'torn', name: 'torn words', unit: 'per million reads', better: 'lower', kind: 'share' },
      { id: 'adds', name: 'atomic adds of both threads to flags of their own', unit: 'million/s', better: 'higher', kind: 'rate' },
      { id: 'changes', name: 'reads that saw another value', unit: 'per million reads', better: 'higher', kind: 'share' },
    ],
    rule: 'held when words that are aligned to their size but not to 64 bytes tear at all: at least one in a million reads',
    rules: [{ type: 'value', metric: 'torn', side: 'packed', relation: 'at-least', bound: 1 }],
    tests: 'direction',
    method: 'Two native threads, the same loops on one page; only the offsets differ.',
  }),
  needs: () => (availableParallelism() < 2 ? 'two threads must run at the same moment, and this process may use one core' : null),
  run,
};
