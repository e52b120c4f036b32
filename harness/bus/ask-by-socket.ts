// The other end of the control socket: one command, one answer. What answers is not trusted: an answer has a longest length and a time to
// come in, and has to be one.
import { createConnection } from 'node:net';
import { z } from 'zod';
import { CTL_SOCKET_NAME, type CtlAnswer, type CtlCommand } from '../contract/ctl.js';
import { EnvladderError } from '../contract/errors.js';
import { openSocketFolder } from './socket-address.js';

/** A status of 256 workers is about 100 kB. */
export const MAX_ANSWER_BYTES = 4 * 2 ** 20;
/** A hot-replaced worker has to build its envs first. */
const LIMIT_MS = 120_000;

const answerSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  message: z.string(),
  detail: z.record(z.string(), z.unknown()).optional(),
});

/** Rejects with `run-folder` in words for a person when nobody listens, nothing usable comes back, or not in time. */
export function askBySocket(dir: string, command: CtlCommand, limitMs = LIMIT_MS): Promise<CtlAnswer> {
  const say = (why: string, cause?: unknown): EnvladderError =>
    new EnvladderError('run-folder', `run ${dir}: ${why}`, { ...(cause === undefined ? {} : { cause }), detail: { dir } });
  return new Promise((done, fail) => {
    let folder: ReturnType<typeof openSocketFolder>;
    try {
      folder = openSocketFolder(dir);
    } catch (cause) {
      fail(say(`its folder cannot be opened (${(cause as NodeJS.ErrnoException).code})`, cause));
      return;
    }
    const socket = createConnection(folder.address(CTL_SOCKET_NAME));
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => end(() => fail(say(`no answer to ${command.command} within ${limitMs / 1000} s`))), limitMs);
    const end = (tell: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      tell();
    };
    socket.on('connect', () => socket.write(`${JSON.stringify(command)}\n`));
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > MAX_ANSWER_BYTES) return end(() => fail(say(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`)));
      const newline = chunk.indexOf(0x0a);
      if (newline < 0) return;
      const line = Buffer.concat(chunks).subarray(0, bytes - chunk.length + newline);
      const answer = answerOf(line.toString('utf8'));
      if (answer === null) return end(() => fail(say('what answers on its control socket is no ladder')));
      if (answer.id !== command.id) return end(() => fail(say(answer.ok ? 'the answer is to another command' : answer.message)));
      end(() => done(answer));
    });
    socket.on('error', (cause: NodeJS.ErrnoException) => end(() => fail(say(wordsFor(cause.code), cause))));
    socket.on('close', () => {
      folder.close();
      end(() => fail(say('it hung up before it answered; has it just ended?')));
    });
  });
}

function answerOf(text: string): CtlAnswer | null {
  try {
    return answerSchema.parse(JSON.parse(text)) as CtlAnswer;
  } catch {
    return null;
  }
}

function wordsFor(code: string | undefined): string {
  if (code === 'ENOENT') return `it has no ${CTL_SOCKET_NAME}: it has ended, or has just begun`;
  if (code === 'ECONNREFUSED') return 'nobody listens on its control socket: its supervisor is gone';
  if (code === 'EACCES' || code === 'EPERM') return 'its control socket belongs to another user';
  return `its control socket cannot be reached (${code ?? 'unknown error'})`;
}
