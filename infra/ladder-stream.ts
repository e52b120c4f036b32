// Follows a ladder on the host until it ends: its lines from the host's journal, each once, over as many SSH connections as that takes. The ladder
// itself is the service manager's and does not notice. Bounds: `patienceMs` without a connection, one line of 48 KiB at a time (the journal's).
import { shellQuote } from './quote.js';
import { isUnreachable, type SshSession } from './ssh-session.js';

export interface Followed {
  /** ended: the unit is not active any more. lost: no connection for longer than the patience. detached: `signal` was raised. */
  readonly why: 'ended' | 'lost' | 'detached';
}

export interface FollowOptions {
  readonly unit: string;
  /** Prefix that makes a command root's. */
  readonly sudo: string;
  readonly open: () => Promise<SshSession>;
  readonly onLine: (line: string) => void;
  readonly onNotice: (message: string) => void;
  readonly signal: AbortSignal;
  readonly patienceMs: number;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const RETRY_MS = 2_000;
/** The last line of a stream that was followed to the unit's end. */
const END = 'envladder-rig-unit-ended';

/**
 * Prints the journal of the unit's newest life from `cursor` on and ends, with a mark, two seconds after the unit did: the journal gets the last
 * lines of a process late.
 */
export function followCommand(unit: string, cursor: string | null): string {
  const from =
    cursor === null ? '-n all "_SYSTEMD_INVOCATION_ID=$(systemctl show -p InvocationID --value "$1")"' : '-u "$1" --after-cursor="$2"';
  const script = [
    'active() { systemctl show -p ActiveState --value "$1" | grep -qE "^(active|activating|deactivating|reloading)$"; };',
    `journalctl -q -f -o json --output-fields=MESSAGE ${from} &`,
    'j=$!; trap "kill $j 2>/dev/null" EXIT;',
    'while kill -0 $j 2>/dev/null && active "$1"; do sleep 1; done;',
    // Without the mark the other side connects again: the journal's reader went, not the unit.
    `sleep 2; kill $j 2>/dev/null; wait $j; active "$1" || { echo; echo ${END}; }`,
  ].join(' ');
  return ['bash', '-c', script, 'follow', unit, cursor ?? ''].map(shellQuote).join(' ');
}

interface JournalLine {
  readonly cursor: string;
  readonly text: string;
}

/** A line of `journalctl -o json`: MESSAGE is text, or bytes when it is not UTF-8; null for anything else. Pure. */
export function parseJournalLine(line: string): JournalLine | null {
  try {
    const { __CURSOR: cursor, MESSAGE: message } = JSON.parse(line) as { __CURSOR?: unknown; MESSAGE?: unknown };
    if (typeof cursor !== 'string') return null;
    if (typeof message === 'string') return { cursor, text: message };
    return { cursor, text: Array.isArray(message) ? Buffer.from(message as number[]).toString('utf8') : '' };
  } catch {
    return null;
  }
}

/** Follows to the end. Rejects only for what trying again cannot mend (a wrong host key, a refused login at the very first connection). */
export async function followLadder(options: FollowOptions): Promise<Followed> {
  const { unit, sudo, onLine, onNotice, signal, patienceMs, nowMs, sleep } = options;
  let cursor: string | null = null;
  let lostSinceMs: number | null = null;
  const aborted = new Promise<'detached'>((resolve) => {
    if (signal.aborted) resolve('detached');
    signal.addEventListener('abort', () => resolve('detached'), { once: true });
  });
  for (;;) {
    if (signal.aborted) return { why: 'detached' };
    let session: SshSession | null = null;
    try {
      session = await options.open();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
    if (session !== null) {
      if (lostSinceMs !== null) onNotice('connected again');
      lostSinceMs = null;
      let rest = '';
      let ended = false;
      const take = (chunk: Buffer): void => {
        const lines = (rest + chunk.toString('utf8')).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (line === END) ended = true;
          const parsed = parseJournalLine(line);
          if (parsed === null) continue;
          cursor = parsed.cursor;
          onLine(parsed.text);
        }
      };
      const run = session.run(`${sudo}${followCommand(unit, cursor)}`, { onStdout: take });
      const what = await Promise.race([run, aborted]);
      session.close();
      if (what === 'detached') return { why: 'detached' };
      if (ended) return { why: 'ended' };
      onNotice('the connection was lost; the ladder goes on, trying again');
    }
    lostSinceMs ??= nowMs();
    if (nowMs() - lostSinceMs > patienceMs) return { why: 'lost' };
    await Promise.race([sleep(RETRY_MS), aborted]);
  }
}
