// Thread: the other end of the claim about JSON. Takes frames as JSON lines or as raw bytes from a unix socket and answers each with 8 bytes: its
// sum; or waits for frames in shared memory and answers there. Sums every element, so that all ways hand over a frame that was really read.
import { type AddressInfo, createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { FRAME_WORD, type PeerStart, sumOf } from '../rigs/frame-ways.js';

const { path, frameBytes, control, frame } = workerData as PeerStart;
const words = new Int32Array(control);
const shared = new Uint8Array(frame);
const JSON_TAG = 0x7b;

function answer(sum: number): Buffer {
  const reply = Buffer.alloc(8);
  reply.writeDoubleLE(sum);
  return reply;
}

const server = createServer((socket) => {
  let parts: Buffer[] = [];
  let bytes = 0;
  socket.on('data', (part) => {
    parts.push(part);
    bytes += part.length;
    const isJson = parts[0]?.[0] === JSON_TAG;
    // A frame at a time: the sender waits for the answer, so nothing follows a frame's end.
    if (isJson ? part.at(-1) !== 10 : bytes < frameBytes + 1) return;
    const whole = Buffer.concat(parts);
    parts = [];
    bytes = 0;
    if (isJson) socket.write(answer(sumOf(Uint8Array.from((JSON.parse(whole.toString()) as { rgb: number[] }).rgb))));
    else socket.write(answer(sumOf(whole.subarray(1))));
  });
  // The sender went away: its own side says why.
  socket.on('error', () => undefined);
});
server.listen(path, () => parentPort?.postMessage({ listening: (server.address() as AddressInfo | string) !== null }));

parentPort?.on('message', ({ frames }: { frames: number }) => {
  for (let i = 0; i < frames; i++) {
    while (Atomics.load(words, FRAME_WORD.asked) === i) Atomics.wait(words, FRAME_WORD.asked, i, 1000);
    Atomics.store(words, FRAME_WORD.sum, sumOf(shared));
    Atomics.store(words, FRAME_WORD.answered, i + 1);
    Atomics.notify(words, FRAME_WORD.answered);
  }
});
