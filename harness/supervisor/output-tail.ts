// The last words of a child: what it wrote to stdout and stderr, the newest MAX_STDERR_TAIL_BYTES of it. Written by the supervisor as it
// reads the pipes, read when the child has died. Children print nowhere else, so `--json` stays clean.
import type { Readable } from 'node:stream';
import { MAX_STDERR_TAIL_BYTES } from '../contract/limits.js';

export interface OutputTail {
  listen(stream: Readable): void;
  text(): string;
}

export function createOutputTail(limitBytes = MAX_STDERR_TAIL_BYTES): OutputTail {
  let chunks: Buffer[] = [];
  let bytes = 0;
  return {
    listen(stream) {
      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > 4 * limitBytes) {
          chunks = [Buffer.concat(chunks).subarray(-limitBytes)];
          bytes = limitBytes;
        }
      });
      stream.on('error', () => undefined);
    },
    text: () => Buffer.concat(chunks).subarray(-limitBytes).toString('utf8'),
  };
}
