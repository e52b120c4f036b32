// Goal: commands reach only the host whose key is known, and every way a host can refuse us has words of its own. Against a real SSH server in this
// process, on loopback.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runHostScript } from '../../infra/host-script.js';
import { isUnreachable, openSsh, type SshTarget } from '../../infra/ssh-session.js';
import { makeSshKeys, type SshKeys } from '../fixtures/ssh-keys.js';

interface ServerChannel {
  stderr: { write(text: string): void };
  write(text: string): void;
  exit(code: number): void;
  end(): void;
  on(event: 'data', listener: (chunk: Buffer) => void): void;
  on(event: 'end', listener: () => void): void;
}
type Handler = (command: string, channel: ServerChannel, drop: () => void) => void;
const ssh2 = createRequire(import.meta.url)('ssh2') as {
  Server: new (options: object, listener: (client: never) => void) => NetServer;
  utils: { parseKey(key: string): { getPublicSSH(): Buffer } };
};

const publicLine = (keys: SshKeys): string => keys.public.split(' ').slice(0, 2).join(' ');

const hostKeys = makeSshKeys();
const userKeys = makeSshKeys();
let server: NetServer;
let target: SshTarget;
let handle: Handler = (_command, channel) => channel.exit(0);

before(async () => {
  server = new ssh2.Server({ hostKeys: [hostKeys.private] }, (client: never) => {
    const peer = client as {
      on(event: string, listener: (...args: never[]) => void): typeof peer;
      end(): void;
    };
    peer.on('error', () => undefined);
    peer.on('authentication', ((context: {
      method: string;
      username: string;
      key?: { data: Buffer };
      accept(): void;
      reject(methods: string[]): void;
    }) => {
      const wanted = ssh2.utils.parseKey(userKeys.private).getPublicSSH();
      if (context.method === 'publickey' && context.username === 'rig' && context.key?.data.equals(wanted)) context.accept();
      else context.reject(['publickey']);
    }) as never);
    peer.on('ready', (() => {
      peer.on('session', ((accept: () => { on(event: string, listener: (...args: never[]) => void): void }) => {
        accept().on('exec', ((acceptExec: () => ServerChannel, _reject: unknown, info: { command: string }) => {
          handle(info.command, acceptExec(), () => peer.end());
        }) as never);
      }) as never);
    }) as never);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  target = { host: '127.0.0.1', port, user: 'rig', hostKey: publicLine(hostKeys), privateKey: userKeys.private };
});
after(() => server.close());

const refusal = async (of: SshTarget): Promise<string> => {
  try {
    (await openSsh(of)).close();
  } catch (error) {
    assert.ok(isUnreachable(error), String(error));
    return error.message;
  }
  return assert.fail('it was let in');
};

describe('a session with the host', () => {
  it('runs a command, feeds it, and returns its output and exit code', async () => {
    handle = (command, channel) => {
      let fed = '';
      channel.on('data', (chunk) => {
        fed += chunk.toString('utf8');
      });
      channel.on('end', () => {
        channel.write(`${command}|${fed}`);
        channel.stderr.write('words');
        channel.exit(7);
        channel.end();
      });
    };
    const session = await openSsh(target);
    assert.deepEqual(await session.run('look', { stdin: 'secret=1\n' }), {
      code: 7,
      stdout: 'look|secret=1\n',
      stderr: 'words',
      lost: false,
    });
    session.close();
  });

  it('refuses a host with another key before anything is sent', async () => {
    handle = () => assert.fail('a command reached a stranger');
    assert.match(await refusal({ ...target, hostKey: publicLine(makeSshKeys()) }), /host key is not the one in the config/);
  });

  it('checks no key on loopback when none is known, and connects to nobody else without one', async () => {
    (await openSsh({ ...target, hostKey: null })).close();
    await assert.rejects(async () => openSsh({ ...target, host: 'rig.invalid', hostKey: null }), /hostKey is missing/);
  });

  it('says which of key, port and silence it was', async () => {
    assert.match(await refusal({ ...target, privateKey: makeSshKeys().private }), /accepts neither the key nor the agent/);
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise<void>((resolve) => free.close(() => resolve()));
    assert.match(await refusal({ ...target, port }), new RegExp(`rig@127\\.0\\.0\\.1:${port} cannot be reached: .*ECONNREFUSED`));
  });

  it('says that the connection was lost when it goes before the command ended, and at once ever after', async () => {
    handle = (_command, channel, drop) => {
      channel.write('half');
      drop();
    };
    const session = await openSsh(target);
    const first = await session.run('long work');
    assert.deepEqual([first.code, first.lost], [null, true]);
    assert.equal((await session.run('more')).lost, true);
  });

  it('runs a script from a folder of its own that is removed, whatever the script does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'envladder-host-'));
    const commands: string[] = [];
    // A real shell on this machine answers, without root.
    handle = (command, channel) => {
      commands.push(command);
      const input: Buffer[] = [];
      channel.on('data', (chunk) => input.push(chunk));
      channel.on('end', () => {
        const text = command.replace(/^sudo -n /, '');
        let code = 0;
        let output = '';
        try {
          output = execFileSync('bash', ['-c', text], {
            input: Buffer.concat(input),
            encoding: 'utf8',
            env: { ...process.env, TMPDIR: folder },
            stdio: ['pipe', 'pipe', 'pipe'],
          });
        } catch (error) {
          const failed = error as { status: number; stdout: string; stderr: string };
          code = failed.status;
          output = failed.stdout;
          channel.stderr.write(failed.stderr);
        }
        channel.write(output);
        channel.exit(code);
        channel.end();
      });
    };
    const session = await openSsh(target);
    const run = await runHostScript(session, 'rig', { concern: 'node-runtime', action: 'check', params: { version: '19.0.0' } });
    session.close();
    assert.equal(run.code, 64);
    assert.match(run.answer?.error ?? '', /version must be a version of Node 20 or 22/);
    assert.match(commands[1] ?? '', /^sudo -n bash \S+\/node-runtime\.sh check version=19\.0\.0$/);
    assert.equal(execFileSync('ls', ['-A', folder], { encoding: 'utf8' }), '');
  });
});
