// Ways to hand an image to another thread that really reads it: as JSON over a unix socket, as bytes over the same socket, through shared memory
// with a futex. One frame at a time, each answered with the sum of its bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { quantile } from '../../chaos/quantile.js';
import { startClaimThread } from '../entry-url.js';

export const FRAME_WORD = { asked: 0, answered: 1, sum: 2, words: 3 } as const;

export interface PeerStart {
  readonly path: string;
  readonly frameBytes: number;
  readonly control: SharedArrayBuffer;
  readonly frame: SharedArrayBuffer;
}

/** Fits 32 bits for any frame below 16 MB. */
export function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) sum += bytes[i] as number;
  return sum;
}

export interface WayTimes {
  /** Median from having a frame to knowing that the other side has read it. */
  readonly handMs: number;
  /** Of it, making the bytes that travel. 0 where there are none to make. */
  readonly serialiseMs: number;
}

export interface FrameWays {
  readonly json: (frames: number) => Promise<WayTimes>;
  readonly socket: (frames: number) => Promise<WayTimes>;
  readonly shared: (frames: number) => Promise<WayTimes>;
  readonly close: () => Promise<void>;
}

function check(got: number, wanted: number): void {
  if (got !== wanted) throw new Error(`the other side read a frame with sum ${got}, ${wanted} was sent`);
}

async function roundTrip(socket: Socket, bytes: Uint8Array | string): Promise<number> {
  const reply = once(socket, 'data');
  socket.write(bytes);
  return ((await reply)[0] as Buffer).readDoubleLE();
}

/** Starts the other thread and connects to it. `dir` takes the socket. */
export async function openFrameWays(dir: string, frame: Uint8Array): Promise<FrameWays> {
  const start: PeerStart = {
    path: join(dir, 'frames.sock'),
    frameBytes: frame.length,
    control: new SharedArrayBuffer(FRAME_WORD.words * 4),
    frame: new SharedArrayBuffer(frame.length),
  };
  const peer = startClaimThread('frame-peer', { workerData: start, name: 'frame-peer' });
  await once(peer, 'message');
  const socket = connect(start.path);
  await once(socket, 'connect');
  const words = new Int32Array(start.control);
  const shared = new Uint8Array(start.frame);
  const wanted = sumOf(frame);

  async function overSocket(frames: number, serialise: () => Uint8Array | string): Promise<WayTimes> {
    const [hand, make]: [number[], number[]] = [[], []];
    for (let i = 0; i < frames; i++) {
      const began = performance.now();
      const bytes = serialise();
      make.push(performance.now() - began);
      check(await roundTrip(socket, bytes), wanted);
      hand.push(performance.now() - began);
    }
    return { handMs: quantile(hand, 0.5) ?? 0, serialiseMs: quantile(make, 0.5) ?? 0 };
  }

  return {
    json: (frames) => overSocket(frames, () => `${JSON.stringify({ rgb: Array.from(frame) })}\n`),
    socket: (frames) =>
      overSocket(frames, () => {
        // One byte in front tells the other side that no JSON follows.
        const bytes = new Uint8Array(frame.length + 1);
        bytes.set(frame, 1);
        return bytes;
      }),
    async shared(frames) {
      Atomics.store(words, FRAME_WORD.asked, 0);
      Atomics.store(words, FRAME_WORD.answered, 0);
      peer.postMessage({ frames });
      const hand: number[] = [];
      for (let i = 0; i < frames; i++) {
        const began = performance.now();
        shared.set(frame);
        Atomics.store(words, FRAME_WORD.asked, i + 1);
        Atomics.notify(words, FRAME_WORD.asked);
        const deadline = began + 10_000;
        while (Atomics.load(words, FRAME_WORD.answered) === i) {
          Atomics.wait(words, FRAME_WORD.answered, i, 100);
          if (performance.now() > deadline) throw new Error('the other side did not read a frame within 10 s');
        }
        hand.push(performance.now() - began);
        check(Atomics.load(words, FRAME_WORD.sum), wanted);
      }
      return { handMs: quantile(hand, 0.5) ?? 0, serialiseMs: 0 };
    },
    async close() {
      socket.destroy();
      await peer.terminate();
    },
  };
}
