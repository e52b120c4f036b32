// Goal: every line of a ladder on the rig is seen once, over lost connections, and letting go of it never ends it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EnvladderError } from '../../harness/contract/errors.js';
import { followCommand, followLadder, parseJournalLine } from '../../infra/ladder-stream.js';
import type { SshSession } from '../../infra/ssh-session.js';

const END = 'envladder-rig-unit-ended';
const journal = (number: number): string => `${JSON.stringify({ __CURSOR: `c${number}`, MESSAGE: `line ${number}` })}\n`;

interface Script {
  /** What a connection sends before it ends; null = it is refused. */
  readonly sends: readonly string[] | null;
  readonly hangs?: boolean;
}

function follow(scripts: readonly Script[], options: { patienceMs?: number; signal?: AbortSignal } = {}) {
  const lines: string[] = [];
  const notices: string[] = [];
  const commands: string[] = [];
  let next = 0;
  let nowMs = 0;
  const result = followLadder({
    unit: 'envladder@smoke.service',
    sudo: 'sudo -n ',
    open: async () => {
      const script = scripts[next++];
      if (!script?.sends) throw new EnvladderError('preflight', 'refused', { detail: { unreachable: true } });
      const { sends, hangs } = script;
      const session: SshSession = {
        close: () => undefined,
        run: (command, { onStdout } = {}) => {
          commands.push(command);
          for (const text of sends) onStdout?.(Buffer.from(text));
          return hangs ? new Promise(() => undefined) : Promise.resolve({ code: 0, stdout: '', stderr: '', lost: false });
        },
      };
      return session;
    },
    onLine: (line) => lines.push(line),
    onNotice: (message) => notices.push(message),
    signal: options.signal ?? new AbortController().signal,
    patienceMs: options.patienceMs ?? 60_000,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  });
  return { result, lines, notices, commands };
}

describe('following a ladder', () => {
  it('prints its lines and ends with the unit', async () => {
    const { result, lines, commands } = follow([{ sends: [journal(1), journal(2), `\n${END}\n`] }]);
    assert.equal((await result).why, 'ended');
    assert.deepEqual(lines, ['line 1', 'line 2']);
    assert.match(commands[0] ?? '', /^sudo -n bash -c .*InvocationID/);
  });

  it('goes on after a lost connection from the line it saw last, also when a line was cut in two', async () => {
    const second = journal(2);
    const { result, lines, notices, commands } = follow([
      { sends: [journal(1), second.slice(0, 10)] },
      { sends: null },
      { sends: [second.slice(0, 5), second.slice(5), `\n${END}\n`] },
    ]);
    assert.equal((await result).why, 'ended');
    assert.deepEqual(lines, ['line 1', 'line 2']);
    assert.match(commands[1] ?? '', /after-cursor.* c1$/);
    assert.deepEqual(notices, ['the connection was lost; the ladder goes on, trying again', 'connected again']);
  });

  it('lets go when asked to, while lines are awaited', async () => {
    const abort = new AbortController();
    const { result, lines } = follow([{ sends: [journal(1)], hangs: true }], { signal: abort.signal });
    setImmediate(() => abort.abort());
    assert.equal((await result).why, 'detached');
    assert.deepEqual(lines, ['line 1']);
  });

  it('gives up when there is no connection for longer than the patience', async () => {
    const { result } = follow([{ sends: [journal(1)] }], { patienceMs: 10_000 });
    assert.equal((await result).why, 'lost');
  });

  it('does not try again what trying cannot mend', async () => {
    await assert.rejects(
      followLadder({
        unit: 'u',
        sudo: '',
        open: () => Promise.reject(new EnvladderError('bad-usage', 'no key')),
        onLine: () => undefined,
        onNotice: () => undefined,
        signal: new AbortController().signal,
        patienceMs: 1,
        nowMs: () => 0,
        sleep: async () => undefined,
      }),
      /no key/,
    );
  });

  it("reads the journal's lines, bytes that are no text included, and passes over what is none", () => {
    assert.deepEqual(parseJournalLine('{"__CURSOR":"c","MESSAGE":"a"}'), { cursor: 'c', text: 'a' });
    assert.deepEqual(parseJournalLine('{"__CURSOR":"c","MESSAGE":[104,105]}'), { cursor: 'c', text: 'hi' });
    assert.deepEqual(parseJournalLine('{"__CURSOR":"c","MESSAGE":null}'), { cursor: 'c', text: '' });
    for (const line of ['', 'null', '{"MESSAGE":"a"}', '-- No entries --', '[']) assert.equal(parseJournalLine(line), null, line);
  });

  it('hands unit and cursor to the shell as words of their own', () => {
    assert.match(followCommand('envladder@smoke.service', 's=1;i=2'), / follow envladder@smoke\.service 's=1;i=2'$/);
  });
});
