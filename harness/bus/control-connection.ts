// One connection to the control socket: lines in, answers out, in order, one at a time. Reading stops while a command is obeyed or its
// answer waits for a slow reader, so a connection costs at most one line and one chunk of memory, whatever is written into it.
import type { Socket } from 'node:net';
import { type CtlAnswer, MAX_CTL_BYTES } from '../contract/ctl.js';
import type { Obey } from './obey-once.js';
import { type CommandRefusal, readCommand } from './read-command.js';

/** Refused lines after which a connection is closed. */
const MAX_REFUSED_LINES = 100;
const NEWLINE = 0x0a;

export type ConnectionRefusal = CommandRefusal | 'half-line' | 'idle' | 'too-many-refusals';

export interface ConnectionOptions {
  readonly obey: Obey;
  readonly onRefusal: (refusal: ConnectionRefusal) => void;
  /** A whole line has to come, and an answer has to be taken, within this time. */
  readonly idleMs: number;
}

export function answerLine(answer: CtlAnswer): string {
  return `${JSON.stringify(answer)}\n`;
}

/** Serves the socket until it ends, is idle or misbehaves. Never throws. */
export function serveConnection(socket: Socket, { obey, onRefusal, idleMs }: ConnectionOptions): void {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held: Buffer = Buffer.alloc(0);
  let refusedLines = 0;
  let obeying = false;
  let serving = false;
  let ended = false;
  const idle = setTimeout(() => {
    if (obeying) idle.refresh();
    else {
      onRefusal('idle');
      socket.destroy();
    }
  }, idleMs);

  const refusal = (kind: ConnectionRefusal, message: string, id = ''): CtlAnswer => {
    onRefusal(kind);
    return { id, ok: false, message };
  };
  const part = (answer: CtlAnswer): void => void socket.end(answerLine(answer), () => socket.destroy());

  async function answerTo(line: Buffer): Promise<CtlAnswer> {
    let text: string;
    try {
      text = decoder.decode(line);
    } catch {
      refusedLines++;
      return refusal('not-json', 'a command is one JSON object in UTF-8 on one line');
    }
    const read = readCommand(text);
    if (!read.ok) {
      refusedLines++;
      return refusal(read.refusal, read.message, read.id);
    }
    obeying = true;
    try {
      return await obey(read.command);
    } catch (error) {
      return { id: read.command.id, ok: false, message: `the command failed: ${error instanceof Error ? error.message : String(error)}` };
    } finally {
      obeying = false;
    }
  }

  async function serve(): Promise<void> {
    if (serving) return;
    serving = true;
    socket.pause();
    for (let end = held.indexOf(NEWLINE); end >= 0; end = held.indexOf(NEWLINE)) {
      const line = held.subarray(0, end);
      held = held.subarray(end + 1);
      const answer = await answerTo(line);
      if (socket.destroyed || !socket.writable) return;
      idle.refresh();
      if (!socket.write(answerLine(answer))) await drained(socket);
      if (refusedLines >= MAX_REFUSED_LINES)
        return part(refusal('too-many-refusals', `${MAX_REFUSED_LINES} lines were no commands: goodbye`));
      // A flood of lines gets no longer turn of the event loop than anybody else.
      await new Promise((done) => setImmediate(done));
    }
    if (held.length > MAX_CTL_BYTES) return part(refusal('too-long', `a command has at most ${MAX_CTL_BYTES} bytes`));
    serving = false;
    if (ended) goodbye();
    else socket.resume();
  }

  /** The other side has said all it will. */
  function goodbye(): void {
    if (held.length > 0 && socket.writable) part(refusal('half-line', 'the line has no end: a command ends with a newline'));
    else socket.end();
  }

  socket.on('data', (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    void serve();
  });
  socket.on('end', () => {
    ended = true;
    if (!serving) goodbye();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => clearTimeout(idle));
}

/** Also resolves when the socket is closed; the idle timer does that to a reader that never reads. */
function drained(socket: Socket): Promise<void> {
  return new Promise((done) => {
    const over = (): void => {
      socket.off('drain', over);
      socket.off('close', over);
      done();
    };
    socket.on('drain', over);
    socket.on('close', over);
  });
}
