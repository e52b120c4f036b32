// Goal: the control socket obeys its user and nobody else, whatever is written into it, and never takes a live run's place.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { askBySocket } from '../../harness/bus/ask-by-socket.js';
import { type ControlCount, type ControlSocket, openControlSocket } from '../../harness/bus/control-socket.js';
import { type Obey, obeyOnce } from '../../harness/bus/obey-once.js';
import type { CtlAnswer } from '../../harness/contract/ctl.js';
import { MAX_CTL_BYTES } from '../../harness/contract/ctl.js';
import { EnvladderError } from '../../harness/contract/errors.js';
import { until } from './state-fixture.js';

interface Rig {
  readonly dir: string;
  readonly control: ControlSocket;
  readonly counts: ControlCount[];
  readonly obeyed: string[];
}

const answerOk: Obey = async (command) => ({ id: command.id, ok: true, message: `did ${command.command}` });

async function withSocket(
  work: (rig: Rig) => Promise<void>,
  options: { obey?: Obey; idleMs?: number; lookEveryMs?: number; sub?: string } = {},
): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'ctl-'));
  const dir = join(base, options.sub ?? 'run');
  mkdirSync(dir, { recursive: true });
  const counts: ControlCount[] = [];
  const obeyed: string[] = [];
  const obey: Obey = async (command) => {
    obeyed.push(command.command);
    return (options.obey ?? answerOk)(command);
  };
  const control = await openControlSocket({ ...options, dir, obey, onCount: (what) => counts.push(what) });
  try {
    await work({ dir, control, counts, obeyed });
  } finally {
    await control.close();
    rmSync(base, { recursive: true, force: true });
  }
}

/** A socket that opens against the expectation is closed: it would keep this process alive. */
async function assertRefused(dir: string, says: RegExp): Promise<void> {
  const opening = openControlSocket({ dir, obey: answerOk });
  await assert.rejects(
    opening.then((control) => control.close()),
    (error: unknown) => error instanceof EnvladderError && error.code === 'run-folder' && says.test(error.message),
  );
}

interface Speaker {
  readonly socket: Socket;
  readonly answers: CtlAnswer[];
  readonly closed: Promise<void>;
}

async function speak(dir: string): Promise<Speaker> {
  const socket = createConnection(join(dir, 'ctl.sock'));
  const answers: CtlAnswer[] = [];
  let held = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    held += text;
    const lines = held.split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) answers.push(JSON.parse(line) as CtlAnswer);
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((done) => socket.on('close', () => done()));
  await once(socket, 'connect');
  return { socket, answers, closed };
}

const status = (id: string): string => `${JSON.stringify({ id, command: 'status' })}\n`;

describe('control socket', { timeout: 60_000 }, () => {
  it('obeys every command and answers in order', async () => {
    // Goal: all five commands arrive as they were sent, also many in one packet and one in many.
    await withSocket(async ({ dir, obeyed }) => {
      const { socket, answers } = await speak(dir);
      const commands = [
        { id: '1', command: 'status' },
        { id: '2', command: 'replace-worker', worker: 3 },
        { id: '3', command: 'quarantine', envId: 7 },
        { id: '4', command: 'release', envId: 7 },
        { id: '5', command: 'checkpoint' },
      ];
      const text = commands.map((command) => `${JSON.stringify(command)}\n`).join('');
      socket.write(text);
      await until('five answers', () => answers.length === 5);
      for (const byte of text) socket.write(byte);
      await until('ten answers', () => answers.length === 10);
      assert.deepEqual(
        answers.map(({ id }) => id),
        ['1', '2', '3', '4', '5', '1', '2', '3', '4', '5'],
      );
      assert.ok(answers.every(({ ok }) => ok));
      assert.deepEqual(obeyed.slice(0, 5), ['status', 'replace-worker', 'quarantine', 'release', 'checkpoint']);
      socket.destroy();
    });
  });

  it('answers one who ends its side first', async () => {
    // Goal: echo | socat works, however long the command takes.
    let release = (): void => undefined;
    const gate = new Promise<void>((done) => {
      release = done;
    });
    await withSocket(
      async ({ dir, obeyed }) => {
        const { socket, answers, closed } = await speak(dir);
        socket.end(status('late'));
        await until('the command', () => obeyed.length === 1);
        release();
        await closed;
        assert.equal(answers[0]?.id, 'late');
      },
      {
        obey: async (command) => {
          await gate;
          return answerOk(command);
        },
      },
    );
  });

  it('is private to its user', async () => {
    // Goal: folder 0700, socket 0600, also where they were wider before.
    await withSocket(async ({ dir, control }) => {
      assert.equal(statSync(dir).mode & 0o777, 0o700);
      assert.equal(statSync(control.path).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(dir), ['ctl.sock']);
    });
  });

  it('serves a folder whose path is longer than a socket address', async () => {
    // Goal: Node cuts such a path off silently and binds somewhere else; here both ends find the socket in its folder.
    await withSocket(
      async ({ dir, control }) => {
        assert.ok(Buffer.byteLength(control.path) > 150);
        assert.deepEqual(readdirSync(dir), ['ctl.sock']);
        const answer = await askBySocket(dir, { id: 'x', command: 'status' });
        assert.equal(answer.message, 'did status');
        rmSync(control.path);
        assert.ok(!existsSync(control.path));
        await until('the socket again', () => existsSync(control.path));
        assert.equal((await askBySocket(dir, { id: 'y', command: 'status' })).ok, true);
      },
      { sub: join('x'.repeat(90), 'y'.repeat(90)), lookEveryMs: 50 },
    );
  });

  it('refuses what is no command, answers it and goes on', async () => {
    // Goal: every kind of bad line has its own count, and the next good one is obeyed.
    await withSocket(async ({ dir, control, obeyed }) => {
      const { socket, answers } = await speak(dir);
      const bad = [
        'not json',
        '[]',
        'null',
        '{"id":"a","command":"shutdown"}',
        '{"id":"a","command":"replace-worker","worker":256}',
        '{"id":"a","command":"replace-worker","worker":-1}',
        '{"id":"a","command":"replace-worker","worker":3,"epoch":7}',
        '{"id":"a","command":"quarantine","envId":1000001}',
        '{"id":"a","command":"quarantine","envId":1.5}',
        '{"id":"","command":"status"}',
        `{"id":"${'i'.repeat(101)}","command":"status"}`,
        '{"command":"status"}',
        '{"id":"a","command":"status","__proto__":{"ok":true}}',
      ];
      socket.write(`${bad.join('\n')}\n`);
      socket.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
      socket.write(status('good'));
      await until('all answers', () => answers.length === bad.length + 2);
      assert.deepEqual(
        answers.slice(0, -1).filter(({ ok }) => ok),
        [],
      );
      assert.equal(answers.at(-1)?.id, 'good');
      assert.deepEqual(obeyed, ['status']);
      assert.deepEqual(control.refused(), { 'not-json': 2, 'unknown-command': 3, 'bad-command': 9 });
      assert.match(answers[3]?.message ?? '', /"shutdown" is no command; known: status, replace-worker/);
      assert.match(answers[6]?.message ?? '', /epoch/);
      socket.destroy();
    });
  });

  it('ends lines that are too long, and half ones', async () => {
    // Goal: a line has a longest length, whether it ends or not.
    await withSocket(async ({ dir, control, obeyed }) => {
      const whole = await speak(dir);
      whole.socket.write(`{"id":"a","command":"status","pad":"${'x'.repeat(MAX_CTL_BYTES)}"}\n${status('next')}`);
      await until('two answers', () => whole.answers.length === 2);
      assert.match(whole.answers[0]?.message ?? '', /at most 16384 bytes/);
      const endless = await speak(dir);
      endless.socket.write('y'.repeat(MAX_CTL_BYTES + 1));
      await endless.closed;
      assert.match(endless.answers[0]?.message ?? '', /at most 16384 bytes/);
      const half = await speak(dir);
      half.socket.end('{"id":"a","comm');
      await half.closed;
      assert.match(half.answers[0]?.message ?? '', /ends with a newline/);
      assert.deepEqual(control.refused(), { 'too-long': 2, 'half-line': 1 });
      assert.deepEqual(obeyed, ['status']);
      whole.socket.destroy();
    });
  });

  it('hangs up on who never finishes a line, also drop by drop', async () => {
    // Goal: a silent or dripping stranger does not hold one of the few connections.
    await withSocket(
      async ({ dir, control }) => {
        const silent = await speak(dir);
        const dripping = await speak(dir);
        const drip = setInterval(() => dripping.socket.write('x'), 20);
        await Promise.all([silent.closed, dripping.closed]);
        clearInterval(drip);
        assert.equal(control.refused().idle, 2);
        await until('no connection', () => control.connections() === 0);
      },
      { idleMs: 200 },
    );
  });

  it('is not idle while a command is obeyed', async () => {
    // Goal: a hot replacement may take longer than a stranger may be silent.
    let release = (): void => undefined;
    const gate = new Promise<void>((done) => {
      release = done;
    });
    await withSocket(
      async ({ dir }) => {
        const slow = await speak(dir);
        slow.socket.write(status('slow'));
        const silent = await speak(dir);
        await silent.closed;
        const second = await speak(dir);
        await second.closed;
        release();
        await until('the answer', () => slow.answers.length === 1);
        assert.equal(slow.answers[0]?.id, 'slow');
      },
      {
        idleMs: 150,
        obey: async (command) => {
          await gate;
          return answerOk(command);
        },
      },
    );
  });

  it('serves eight and tells the ninth', async () => {
    // Goal: connections are few, and the count goes down when one ends.
    await withSocket(async ({ dir, control }) => {
      const eight = await Promise.all(Array.from({ length: 8 }, () => speak(dir)));
      await until('eight connections', () => control.connections() === 8);
      const ninth = await speak(dir);
      await ninth.closed;
      assert.match(ninth.answers[0]?.message ?? '', /8 connections already/);
      assert.equal(control.refused()['too-many-connections'], 1);
      eight[0]?.socket.destroy();
      await until('seven connections', () => control.connections() === 7);
      assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
      for (const { socket } of eight) socket.destroy();
    });
  });

  it('survives floods: of garbage, of commands nobody reads the answers of, of connections', async () => {
    // Goal: a flood is cut off or held up; another client is served meanwhile.
    const detail = { pad: 'z'.repeat(20_000) };
    await withSocket(
      async ({ dir, control, obeyed }) => {
        const garbage = await speak(dir);
        garbage.socket.write('{}\n'.repeat(50_000));
        await garbage.closed;
        assert.equal(control.refused()['unknown-command'], 100);
        assert.equal(control.refused()['too-many-refusals'], 1);

        const deaf = createConnection(join(dir, 'ctl.sock'));
        await once(deaf, 'connect');
        deaf.pause();
        deaf.on('error', () => undefined);
        deaf.write(status('deaf').repeat(2_000));
        await until('a standstill', async () => {
          const before = obeyed.length;
          assert.equal((await askBySocket(dir, { id: 'x', command: 'checkpoint' })).ok, true);
          return obeyed.length === before + 1 && obeyed.length > 3;
        });
        assert.ok(obeyed.filter((command) => command === 'status').length < 200, 'a reader that does not read is not served on');
        deaf.destroy();

        await Promise.all(
          Array.from({ length: 100 }, async () => {
            const each = createConnection(join(dir, 'ctl.sock'));
            each.on('error', () => undefined);
            each.end('\n\n');
            each.resume();
            await once(each, 'close');
          }),
        );
        assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
      },
      { obey: async (command) => ({ id: command.id, ok: true, message: 'long', detail }) },
    );
  });

  it('never throws for random bytes', async () => {
    // Goal: no byte string ends the supervisor.
    await withSocket(async ({ dir, obeyed }) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), async (parts) => {
          const { socket, closed } = await speak(dir);
          for (const part of parts) socket.write(part);
          socket.end('\n');
          await closed;
        }),
        { numRuns: 100 },
      );
      assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
      assert.deepEqual(obeyed, ['status']);
    });
  });

  it('answers also when obeying fails', async () => {
    // Goal: a bug behind `obey` is an answer, not a crash.
    await withSocket(
      async ({ dir }) => {
        const answer = await askBySocket(dir, { id: 'x', command: 'status' });
        assert.equal(answer.ok, false);
        assert.match(answer.message, /boom/);
      },
      {
        obey: async () => {
          throw new Error('boom');
        },
      },
    );
  });

  it('refuses a second owner, and the first goes on unharmed', async () => {
    // Goal: ZeroMQ's bind steals the path; this one must not.
    await withSocket(async ({ dir, control }) => {
      await assertRefused(dir, /belongs to a run that is alive/);
      assert.ok(existsSync(control.path));
      assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
      assert.deepEqual(readdirSync(dir), ['ctl.sock']);
    });
  });

  it('takes the place of a dead one, of nothing else', async (t) => {
    // Goal: a socket file of a run that was killed is removed; a file or link of somebody's is not.
    const dir = mkdtempSync(join(tmpdir(), 'ctl-'));
    const dead = spawn(
      process.execPath,
      ['-e', `require('net').createServer().listen(${JSON.stringify(join(dir, 'ctl.sock'))}, () => console.log('up'))`],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    t.after(() => dead.kill('SIGKILL'));
    await once(dead.stdout, 'data');
    // Frozen is not dead.
    dead.kill('SIGSTOP');
    await assertRefused(dir, /alive/);
    const exited = once(dead, 'exit');
    dead.kill('SIGKILL');
    await exited;
    assert.ok(existsSync(join(dir, 'ctl.sock')));
    const control = await openControlSocket({ dir, obey: answerOk });
    assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
    await control.close();
    assert.deepEqual(readdirSync(dir), []);
    writeFileSync(join(dir, 'ctl.sock'), 'mine');
    await assertRefused(dir, /is no socket/);
    rmSync(join(dir, 'ctl.sock'));
    symlinkSync('/dev/null', join(dir, 'ctl.sock'));
    await assertRefused(dir, /is no socket/);
    await assertRefused(join(dir, 'not-there'), /cannot be made private \(ENOENT\)/);
    rmSync(dir, { recursive: true });
  });

  it('is bound again when its file was removed; open connections go on', async () => {
    // Goal: FAULTS 32.
    await withSocket(
      async ({ dir, control, counts }) => {
        const open = await speak(dir);
        rmSync(control.path);
        await until('a new one', () => counts.includes('rebound'));
        assert.equal(statSync(control.path).mode & 0o777, 0o600);
        assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
        open.socket.write(status('old'));
        await until('an answer on the old connection', () => open.answers.length === 1);
        open.socket.destroy();
      },
      { lookEveryMs: 30 },
    );
  });

  it('leaves a stranger in its place alone, and comes back when that is gone', async () => {
    // Goal: noticing must not become stealing; it is said once.
    await withSocket(
      async ({ dir, control, counts }) => {
        rmSync(control.path);
        const stranger = createServer().listen(control.path);
        await once(stranger, 'listening');
        await until('the failure', () => counts.includes('rebind-failed'));
        assert.ok(existsSync(control.path));
        stranger.close();
        await once(stranger, 'close');
        await until('its own again', () => counts.includes('rebound'));
        assert.equal(counts.filter((what) => what === 'rebind-failed').length, 1);
        assert.equal((await askBySocket(dir, { id: 'x', command: 'status' })).ok, true);
      },
      { lookEveryMs: 30 },
    );
  });

  it('leaves nothing behind', async () => {
    // Goal: no file, connection or timer outlives `close`.
    await withSocket(async ({ dir, control }) => {
      const open = await speak(dir);
      await control.close();
      await open.closed;
      assert.deepEqual(readdirSync(dir), []);
    });
  });
});

describe('asking a run', { timeout: 60_000 }, () => {
  async function withServer(behave: (socket: Socket) => void, work: (dir: string) => Promise<void>): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'ctl-'));
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      behave(socket);
    }).listen(join(dir, 'ctl.sock'));
    await once(server, 'listening');
    try {
      await work(dir);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(dir, { recursive: true });
    }
  }
  const ask = (dir: string): Promise<CtlAnswer> => askBySocket(dir, { id: 'mine', command: 'status' }, 300);
  const hostile: Record<string, [behave: (socket: Socket) => void, message: RegExp]> = {
    'hangs up at once': [(socket) => socket.destroy(), /hung up before it answered|cannot be reached/],
    'never answers': [() => undefined, /no answer to status within 0.3 s/],
    'answers with garbage': [(socket) => socket.write('\0\xff garbage\n'), /no ladder/],
    'answers with other JSON': [(socket) => socket.write('{"id":7}\n'), /no ladder/],
    'answers another command': [(socket) => socket.write('{"id":"other","ok":true,"message":"m"}\n'), /another command/],
    'refuses the connection in words': [
      (socket) => socket.end('{"id":"","ok":false,"message":"there are 8 connections already"}\n'),
      /8 connections already/,
    ],
    'answers without end': [
      (socket) => {
        const flood = (): void => {
          while (!socket.destroyed && socket.write('x'.repeat(65_536)));
        };
        socket.on('drain', flood);
        flood();
      },
      /longer than|no answer/,
    ],
  };
  for (const [name, [behave, message]] of Object.entries(hostile)) {
    it(`gives up on a server that ${name}`, async () => {
      // Goal: a clear error within the limit, whatever answers.
      await withServer(behave, async (dir) => {
        await assert.rejects(
          ask(dir),
          (error: unknown) => error instanceof EnvladderError && error.code === 'run-folder' && message.test(error.message),
        );
      });
    });
  }

  it('says what is wrong with a folder', async () => {
    // Goal: no socket, a dead socket, somebody else's socket: each in its own words.
    const dir = mkdtempSync(join(tmpdir(), 'ctl-'));
    await assert.rejects(ask(dir), /has no ctl.sock/);
    await assert.rejects(ask(join(dir, 'x'.repeat(200))), /cannot be opened \(ENOENT\)/);
    const dead = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(join(dir, 'ctl.sock'))}, () => process.kill(process.pid, 'SIGKILL'))`,
    ]);
    await once(dead, 'exit');
    await assert.rejects(ask(dir), /nobody listens/);
    chmodSync(dir, 0o700);
    rmSync(dir, { recursive: true });
  });
});

describe('obeying once', () => {
  it('answers a repeated id from memory, also while the first is under way', async () => {
    // Goal: a command sent again because its answer was lost is not obeyed twice.
    let times = 0;
    const once = obeyOnce(async (command) => {
      await new Promise((done) => setImmediate(done));
      return { id: command.id, ok: true, message: `time ${++times}` };
    });
    const both = await Promise.all([once({ id: 'a', command: 'checkpoint' }), once({ id: 'a', command: 'checkpoint' })]);
    both.push(await once({ id: 'a', command: 'checkpoint' }));
    assert.deepEqual(
      both.map(({ message }) => message),
      ['time 1', 'time 1', 'time 1'],
    );
    const other = await once({ id: 'a', command: 'status' });
    assert.equal(other.ok, false);
    assert.match(other.message, /used for another command/);
    assert.equal(times, 1);
  });

  it('remembers a bounded number of ids and bytes', async () => {
    // Goal: a tool that asks each second for days costs no memory.
    const once = obeyOnce(async (command) => ({ id: command.id, ok: true, message: 'm', detail: { pad: 'p'.repeat(10_000) } }));
    for (let i = 0; i < 2_500; i++) await once({ id: String(i), command: 'status' });
    assert.equal(once.remembered().ids, 1_000);
    assert.ok(once.remembered().detailBytes <= 2 ** 20);
    const again = await once({ id: '1600', command: 'status' });
    assert.equal(again.detail, undefined);
    assert.match(again.message, /its detail is not kept/);
    assert.ok((await once({ id: '2499', command: 'status' })).detail !== undefined);
  });
});
