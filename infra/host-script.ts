// Runs one of the rig's scripts over an open SSH connection, from a folder that is there only as long as this: what was uploaded before is not
// trusted, and nothing of it stays. Returns the script's own answer, the JSON line.
import { z } from 'zod';
import { EnvladderError } from '../harness/contract/errors.js';
import type { ConcernName } from './concern-names.js';
import { shellParams, shellQuote, stdinLines } from './quote.js';
import { bundleScript } from './script-bundle.js';
import type { SshSession } from './ssh-session.js';

const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
const answerSchema = z.object({
  concern: z.string(),
  action: z.enum(['check', 'apply', 'revert']),
  changed: z.boolean(),
  before: facts,
  after: facts,
  differs: z.array(z.string()),
  error: z.string().optional(),
});
export type ScriptAnswer = z.infer<typeof answerSchema>;

export interface ScriptRun {
  /** 0 as wanted, 1 differs, 64 usage, 70 failed, 75 precondition, 79 needs a reboot; null when the connection was lost. */
  readonly code: number | null;
  /** Null when the script did not come as far as its answer. */
  readonly answer: ScriptAnswer | null;
  /** What it said for people. */
  readonly words: string;
}

export interface ScriptCall {
  readonly concern: ConcernName;
  readonly action: 'check' | 'apply';
  readonly params: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly onWords?: (text: string) => void;
}

function parseAnswer(stdout: string): ScriptAnswer | null {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Prefix that makes a command root's. */
export const asRoot = (user: string): string => (user === 'root' ? '' : 'sudo -n ');

/** `user` is the login user. Never rejects for what the script does. */
export async function runHostScript(session: SshSession, user: string, call: ScriptCall): Promise<ScriptRun> {
  const file = `${call.concern}.sh`;
  const upload = await session.run(`umask 077 && d=$(mktemp -d) && cat >"$d/${file}" && printf %s "$d"`, {
    stdin: bundleScript(call.concern).text,
  });
  const folder = upload.stdout.trim();
  if (upload.code !== 0 || !/^\/[\w./-]+$/.test(folder)) return { code: upload.code || null, answer: null, words: upload.stderr };
  const words = `${call.action} ${shellParams(call.params)}`.trimEnd();
  const done = await session.run(`${asRoot(user)}bash ${shellQuote(`${folder}/${file}`)} ${words}`, {
    ...(call.secrets === undefined ? {} : { stdin: stdinLines(call.secrets) }),
    ...(call.onWords === undefined ? {} : { onStderr: call.onWords }),
  });
  await session.run(`rm -rf ${shellQuote(folder)}`);
  return { code: done.lost ? null : done.code, answer: parseAnswer(done.stdout), words: done.stderr };
}

/** The answer of a call that must succeed; throws with the script's own words otherwise. */
export function requireAnswer({ code, answer, words }: ScriptRun, what: string): ScriptAnswer {
  if (code === 0 && answer !== null) return answer;
  const said = answer?.error ?? (words.trim().split('\n').at(-1) || 'it said nothing');
  throw new EnvladderError('preflight', `${what}: ${code === null ? 'the connection was lost' : `exit code ${code}`}: ${said}`, {
    detail: { code },
  });
}
