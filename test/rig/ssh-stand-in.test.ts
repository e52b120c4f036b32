// Goal: the stand-in provider's SSH behaves as docs/rig-tests.md says the official one's does: pinned host keys, bounded dialling, exit codes,
// lost sessions, and lines that are too long.
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { makeSshKeys } from '../fixtures/ssh-keys.js';
import { dial, runCommand } from './stand-ins/ssh.mjs';

/** What of ssh2's server is used here; it ships no types. */
interface Channel {
  write(text: string): void;
  stderr: { write(text: string): void };
  exit(code: number): void;
  end(): void;
  on(event: 'data', listener: (bytes: Buffer) => void): void;
}
interface Session {
  on(event: 'exec', listener: (accept: () => Channel, reject: () => void, info: { command: string }) => void): void;
}
interface ServerClient {
  on(event: string, listener: (context: { accept(): void }) => void): ServerClient;
  on(event: 'session', listener: (accept: () => Session) => void): ServerClient;
  on(event: 'error', listener: () => void): ServerClient;
  end(): void;
}
interface SshServer {
  listen(port: number, address: string, done: () => void): void;
  address(): AddressInfo;
  close(): void;
}
const ssh2 = createRequire(import.meta.url)('ssh2') as {
  Server: new (options: object, onClient: (client: ServerClient) => void) => SshServer;
};

const hostKey = makeSshKeys();
const otherKey = makeSshKeys();
const never = new AbortController().signal;

describe('the SSH of the stand-in provider', () => {
  let dials = 0;
  // Whatever a case left open ends with the suite: a failed check must not become a hang.
  const connected = new Set<ServerClient>();
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
    dials++;
    connected.add(client);
    client
      .on('error', () => {})
      .on('authentication', (context) => context.accept())
      .on('session', (accept) =>
        accept().on('exec', (acceptExec, _reject, { command }) => {
          const channel = acceptExec();
          if (command === 'lost') return client.end();
          if (command === 'long') channel.write('x'.repeat(70_000));
          if (command === 'echo') channel.on('data', (bytes) => channel.write(String(bytes)));
          channel.stderr.write('words\n');
          // The client closes its side of stdin at once.
          setImmediate(() => {
            channel.exit(command === 'fail' ? 70 : 0);
            channel.end();
          });
        }),
      );
  });
  const to = (more: object = {}): Record<string, unknown> => ({
    host: '127.0.0.1',
    port: server.address().port,
    user: 'u',
    password: 'p',
    ...more,
  });
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  after(() => {
    for (const client of connected) client.end();
    server.close();
  });

  it('accepts the pinned key and gives exit code and output', async () => {
    const client = await dial(to({ hostKey: hostKey.public }), never);
    const lines: string[] = [];
    const done = await runCommand(client, 'fail', undefined, (line, stream) => lines.push(`${stream} ${line}`));
    strictEqual(done.code, 70);
    strictEqual(done.stderr, 'words\n');
    deepStrictEqual(lines, ['stderr words']);
    client.end();
  });

  it('refuses another key, as often as it may dial and no more', async () => {
    const before = dials;
    await rejects(
      dial(to({ hostKey: otherKey.public, dialErrorLimit: 2 }), never),
      /after 2 failed attempts: dial: ssh: handshake failed: ssh: host key mismatch/,
    );
    strictEqual(dials - before, 2);
  });

  it('dials without a limit until it is told to stop', async () => {
    const stop = new AbortController();
    const dialling = dial(to({ hostKey: otherKey.public, dialErrorLimit: -1 }), stop.signal);
    stop.abort(new Error('the time of the resource is over'));
    await rejects(dialling, /the time of the resource is over; after \d+ failed attempts/);
  });

  it('takes a session without an exit status for a failure', async () => {
    const client = await dial(to(), never);
    await rejects(runCommand(client, 'lost', undefined), /without exit status/);
  });

  it('refuses a line that would hang the official provider', async () => {
    const client = await dial(to(), never);
    await rejects(runCommand(client, 'long', undefined), /65536 bytes/);
    client.end();
  });
});
