// A line of text from outside becomes a command, or the reason why it does not. Pure; the only way into `obey` for both transports.
import { type CtlCommand, ctlCommandSchema, MAX_CTL_BYTES } from '../contract/ctl.js';

export const COMMAND_REFUSALS = ['too-long', 'not-json', 'unknown-command', 'bad-command'] as const;
export type CommandRefusal = (typeof COMMAND_REFUSALS)[number];

export type ReadCommand =
  | { readonly ok: true; readonly command: CtlCommand }
  | { readonly ok: false; readonly refusal: CommandRefusal; readonly id: string; readonly message: string };

const KNOWN = ctlCommandSchema.options.map((option) => option.shape.command.value);
/** Of what a stranger wrote, in a message. */
const MAX_QUOTED = 40;

export function readCommand(text: string): ReadCommand {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CTL_BYTES) return refuse('too-long', '', `a command has at most ${MAX_CTL_BYTES} bytes, this one ${bytes}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('not-json', '', 'a command is one JSON object on one line');
  }
  const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const id = typeof given['id'] === 'string' && given['id'].length <= 100 ? given['id'] : '';
  const parsed = ctlCommandSchema.safeParse(value);
  if (parsed.success) return { ok: true, command: parsed.data };
  if (!KNOWN.some((command) => command === given['command']))
    return refuse('unknown-command', id, `${quoted(given['command'])} is no command; known: ${KNOWN.join(', ')}`);
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  return refuse('bad-command', id, `${given['command']}: ${where}${(issue?.message ?? 'it has the wrong form').slice(0, 200)}`);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, MAX_QUOTED)) : `a command of type ${typeof value}`;
}

function refuse(refusal: CommandRefusal, id: string, message: string): ReadCommand {
  return { ok: false, refusal, id, message };
}
