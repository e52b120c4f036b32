// "JSON of an image takes 3 ms, so RPC frameworks lose": the same 224 x 224 x 3 image handed to another thread that sums it, as JSON over a unix
// socket, as bytes over the same socket, and through shared memory.
import type { Claim, ClaimContext, Measured, Samples, Taken } from '../claim.js';
import { openFrameWays, type WayTimes } from '../rigs/frame-ways.js';

const FRAME_BYTES = 224 * 224 * 3;

const taken = ({ handMs, serialiseMs }: WayTimes): Taken => ({ 'hand-ms': handMs, 'serialise-ms': serialiseMs });

async function takeAll(context: ClaimContext, frames: number): Promise<Samples> {
  // A gradient: JSON of noise and of black differ in length.
  const ways = await openFrameWays(
    context.dir,
    Uint8Array.from({ length: FRAME_BYTES }, (_, i) => (i * 7) & 255),
  );
  try {
    return await context.interleave(
      {
        json: async () => taken(await ways.json(frames)),
        'shared-memory': async () => {
          const { 'hand-ms': ms = 0 } = taken(await ways.shared(frames * 4));
          return { 'hand-ms': ms };
        },
        'socket-bytes': async () => taken(await ways.socket(frames)),
      },
      { warmUps: 1 },
    );
  } finally {
    await ways.close();
  }
}

async function run(context: ClaimContext): Promise<Measured> {
  const frames = context.pick({ full: 40, quick: 10, tiny: 2 });
  return {
    samples: await takeAll(context, frames),
    conditions: {
      frame: `${FRAME_BYTES.toLocaleString('en-US')} bytes, 224 x 224 x 3 as uint8`,
      frames: `${frames} per repeat, one at a time`,
    },
    notes: [
      'To serialise is JSON.stringify of the plain array, or the copy into the buffer that is sent; shared memory has nothing to serialise but copies the frame in.',
    ],
  };
}

export const json3ms: Claim = {
  id: 'json-3ms',
  said: { text: 'serialising an image as JSON takes 3 ms, which is why RPC frameworks lose against shared memory', value: 3, unit: 'ms' },
  question: 'What does it cost to hand one image to another thread as JSON, as bytes over a socket, and through shared memory?',
  register: () => ({
    sides: [
      { name: 'json', role: 'account', what: 'JSON over a unix socket, parsed on the other side' },
      { name: 'shared-memory', role: 'envladder', what: 'a copy into shared memory and a futex' },
      { name: 'socket-bytes', role: 'reference', what: 'the plain bytes over the same socket: RPC without JSON' },
    ],
    metrics: [
      { id: 'hand-ms', name: 'until the other side has read the image', unit: 'ms', better: 'lower', kind: 'time' },
      { id: 'serialise-ms', name: 'of it, to serialise', unit: 'ms', better: 'lower', kind: 'time' },
    ],
    rule: 'held when JSON needs at least 3 ms to serialise an image, and at least twice the time of shared memory to hand it over',
    rules: [
      { type: 'value', metric: 'serialise-ms', side: 'json', relation: 'at-least', bound: 3 },
      { type: 'ratio', metric: 'hand-ms', side: 'json', to: 'shared-memory', relation: 'at-least', bound: 2 },
    ],
    tests: 'figure',
    method: 'The other side sums every byte and answers with the sum, which is checked; one frame at a time.',
  }),
  needs: () => null,
  run,
};
