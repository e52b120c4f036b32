// One SSH connection to the rig's host, for the doctor and the ladder: run a command, feed it, hear its output as it comes. The host key is
// always checked, except on loopback without one in the config. Bounds: connecting takes at most 20 s, output that is kept 8 MiB a stream.
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { EnvladderError } from '../harness/contract/errors.js';
import { isLoopback, type RigSettings } from './config.js';

/** What of ssh2 is used here; it ships no types. */
interface SshChannel {
  end(data: string): void;
  readonly stderr: Readable;
  on(event: 'data', listener: (chunk: Buffer) => void): this;
  on(event: 'exit', listener: (code: number | null, signal?: string) => void): this;
  on(event: 'close', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
}
interface SshClient {
  on(event: 'ready' | 'close', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  connect(options: Record<string, unknown>): void;
  exec(command: string, listener: (error: Error | undefined, channel: SshChannel) => void): void;
  end(): void;
}
const { Client } = createRequire(import.meta.url)('ssh2') as { Client: new () => SshClient };

const CONNECT_LIMIT_MS = 20_000;
const KEPT_BYTES = 8 * 2 ** 20;

export interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** `ssh-ed25519 AAAA...`; null is accepted for loopback alone. */
  readonly hostKey: string | null;
  readonly privateKey?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly agentSocket?: string | undefined;
}

export interface SshResult {
  /** Null when a signal ended it, or when the connection was lost before it ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The connection went before the command said how it ended. */
  readonly lost: boolean;
}

export interface SshRun {
  readonly stdin?: string;
  readonly onStdout?: (chunk: Buffer) => void;
  readonly onStderr?: (text: string) => void;
}

export interface SshSession {
  /** Never rejects for what the command or the connection does. */
  run(command: string, options?: SshRun): Promise<SshResult>;
  close(): void;
}

/** The way to the host as the config has it. */
export function sshTarget({ config, secrets }: RigSettings): SshTarget {
  return {
    host: config.host,
    port: config.port,
    user: config.user,
    hostKey: config.hostKey ?? null,
    privateKey: secrets.privateKey,
    passphrase: secrets.privateKeyPassword,
    agentSocket: config.agentSocket,
  };
}

/** True for errors of openSsh that mean "the host did not let us in", not "we were called wrongly". */
export function isUnreachable(error: unknown): error is EnvladderError {
  return error instanceof EnvladderError && error.detail['unreachable'] === true;
}

function unreachable({ host, port, user }: SshTarget, why: string, cause?: unknown): EnvladderError {
  return new EnvladderError('preflight', `the rig's host ${user}@${host}:${port} cannot be reached: ${why}`, {
    cause,
    detail: { unreachable: true, host, port },
  });
}

/** OpenSSH's words for what ssh2 says in its own. */
function explain(message: string, keyRefused: boolean): string {
  if (keyRefused)
    return 'its host key is not the one in the config (envladder:hostKey): another host answers there, or it was installed anew';
  if (/authentication methods failed/i.test(message)) return 'it accepts neither the key nor the agent of the config for this user';
  return message;
}

function collect(kept: Buffer[], chunk: Buffer, size: number): number {
  if (size < KEPT_BYTES) kept.push(chunk);
  return size + chunk.length;
}

function runOn(client: SshClient, isOpen: () => boolean, command: string, { stdin, onStdout, onStderr }: SshRun): Promise<SshResult> {
  return new Promise((resolve) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let outBytes = 0;
    let errBytes = 0;
    let code: number | null = null;
    let ended = false;
    const settle = (lost: boolean): void =>
      resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8'), lost });
    if (!isOpen()) return settle(true);
    client.exec(command, (error, channel) => {
      if (error !== undefined) return settle(true);
      channel.on('data', (chunk) => {
        if (onStdout === undefined) outBytes = collect(out, chunk, outBytes);
        else onStdout(chunk);
      });
      channel.stderr.on('data', (chunk: Buffer) => {
        errBytes = collect(err, chunk, errBytes);
        onStderr?.(chunk.toString('utf8'));
      });
      channel.on('exit', (status) => {
        ended = true;
        code = status;
      });
      channel.on('error', () => undefined); // `close` follows
      channel.on('close', () => settle(!ended));
      channel.end(stdin ?? '');
    });
  });
}

/** Connects. Rejects with an error for which isUnreachable is true when the host does not answer, is another, or refuses the key. */
export function openSsh(target: SshTarget): Promise<SshSession> {
  if (target.hostKey === null && !isLoopback(target.host)) {
    throw new EnvladderError(
      'bad-usage',
      `envladder:hostKey is missing: ${target.host} is not loopback, and its key must be known beforehand`,
    );
  }
  const wanted = target.hostKey?.split(' ')[1];
  const client = new Client();
  let open = false;
  let keyRefused = false;
  return new Promise((resolve, reject) => {
    client.on('error', (error) => {
      open = false;
      reject(unreachable(target, explain(error.message, keyRefused), error));
    });
    client.on('close', () => {
      open = false;
      reject(unreachable(target, explain('it closed the connection', keyRefused)));
    });
    client.on('ready', () => {
      open = true;
      resolve({ run: (command, options = {}) => runOn(client, () => open, command, options), close: () => client.end() });
    });
    client.connect({
      host: target.host,
      port: target.port,
      username: target.user,
      readyTimeout: CONNECT_LIMIT_MS,
      keepaliveInterval: 5_000,
      keepaliveCountMax: 3,
      algorithms: { serverHostKey: ['ssh-ed25519'] },
      hostVerifier: (key: Buffer) => {
        keyRefused = wanted !== undefined && key.toString('base64') !== wanted;
        return !keyRefused;
      },
      ...(target.privateKey === undefined ? {} : { privateKey: target.privateKey }),
      ...(target.passphrase === undefined ? {} : { passphrase: target.passphrase }),
      ...(target.agentSocket === undefined ? {} : { agent: target.agentSocket }),
    });
  });
}
