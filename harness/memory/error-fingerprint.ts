// What makes two errors the same: the SHA-256 of class, message and frames with everything taken out that differs from one env, run or
// machine to the next (numbers, quoted values, folders, line numbers). Used by whoever writes an error table; bounded by the cuts below.
import { createHash } from 'node:crypto';
import type { ErrorRecord } from '../contract/error-record.js';

/** Characters looked at: a message is a sentence or two, a stack some tens of frames; the rest costs time and tells nothing new. */
const MESSAGE_CHARACTERS = 1024;
const STACK_CHARACTERS = 8192;
/** Frames looked at: V8 keeps 10 unless told otherwise. */
const MAX_FRAMES = 20;

/** 16 hexadecimal digits. */
export function fingerprintOf(error: Pick<ErrorRecord, 'operation' | 'message' | 'stack'>): string {
  const frames = normaliseFrames(error.stack);
  // Without frames (a native death, a message from another process) the operation is all there is to tell the place.
  const place = frames.length > 0 ? frames : [error.operation];
  return createHash('sha256')
    .update([normaliseMessage(error.message), ...place].join('\n'))
    .digest('hex')
    .slice(0, 16);
}

/** "env 17: value 0x1F of 'cart' is 3.5e-2" -> "env #: value # of '…' is #". */
export function normaliseMessage(message: string): string {
  return (
    message
      .slice(0, MESSAGE_CHARACTERS)
      // Quotes that open a word and close one; the apostrophe of "can't" does neither.
      .replace(/(?<!\w)(['"`])[^'"`\n]{0,300}\1(?!\w)/g, "'…'")
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '#')
      .replace(/\b0x[0-9a-f]+\b/gi, '#')
      .replace(/\b(?=[a-f]*[0-9])[0-9a-f]{12,}\b/gi, '#')
      .replace(/(?:file:\/\/)?(?:\/[\w.@+-]{1,255}){1,64}\/(?=[\w.@+-])/g, '')
      .replace(/[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi, '#')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** "function@file" per frame, innermost first; V8 stacks and Python tracebacks. Lines that are no frames are left out. */
export function normaliseFrames(stack: string): string[] {
  const frames: string[] = [];
  for (const line of stack.slice(0, STACK_CHARACTERS).split('\n')) {
    const frame = v8Frame(line) ?? pythonFrame(line);
    if (frame !== undefined && frames.push(frame) === MAX_FRAMES) break;
  }
  return frames;
}

function v8Frame(line: string): string | undefined {
  const text = /^\s{1,16}at (.{1,1000})$/.exec(line)?.[1];
  if (text === undefined) return undefined;
  const open = text.endsWith(')') ? text.indexOf(' (') : -1;
  const name = open < 0 ? '' : text.slice(0, open).replace(/^async /, '');
  const place = open < 0 ? text.replace(/^async /, '') : text.slice(open + 2, -1);
  return `${name}@${fileName(place.replace(/:\d+(?::\d+)?(?=[),]|$)/g, ''))}`;
}

function pythonFrame(line: string): string | undefined {
  const found = /^\s{1,16}File "([^"]{1,500})", line \d+, in (.{1,200})$/.exec(line);
  return found ? `${found[2]}@${fileName(found[1] as string)}` : undefined;
}

/** Without folders and without the query a module loader adds; `node:` names keep their folders, they are the same everywhere. */
function fileName(place: string): string {
  const bare = place.replace(/[?#].*$/, '');
  return bare.startsWith('node:') ? bare : bare.slice(Math.max(bare.lastIndexOf('/'), bare.lastIndexOf('\\')) + 1);
}
