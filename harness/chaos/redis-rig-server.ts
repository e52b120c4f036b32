// A redis-server of a row's own, to be killed, frozen, starved and wiped: on a unix socket in the row's folder, and with a port only where a
// network namespace of its own lies around it. Nothing of it is kept on the disk, and it does not outlive this process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { openRedis, type RedisLink } from '../bus/state/redis-client.js';
import { commandProblem } from './machine-needs.js';
import { until } from './until.js';

const START_MS = 10_000;

export interface RigServer {
  readonly socket: string;
  readonly url: string;
  readonly pid: number;
  /** Resolves when it answers, empty; throws when it does not start. */
  start(): Promise<void>;
  /** SIGKILL, confirmed. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** One command by a connection that the run knows nothing of. */
  command(name: string, ...args: readonly string[]): Promise<unknown>;
  /** Kills it and forgets its connections. */
  remove(): Promise<void>;
}

/** Null: there is one on PATH. */
export function redisProblem(): string | null {
  return commandProblem('redis-server', ['--version']);
}

export interface RigServerOptions {
  readonly dir: string;
  /** Command in front of redis-server that becomes it: ["unshare", "-n"]. */
  readonly through?: readonly string[];
  /** 0: only the socket. */
  readonly port?: number;
}

export function rigServer({ dir, through = [], port = 0 }: RigServerOptions): RigServer {
  const socket = join(dir, 'redis.sock');
  const url = `unix://${socket}`;
  let child: ChildProcess | null = null;
  let link: RedisLink | null = null;
  const killNow = (): void => void child?.kill('SIGKILL');
  process.on('exit', killNow);

  const command = async (name: string, ...args: readonly string[]): Promise<unknown> => {
    link ??= openRedis(url, 'envladder-chaos');
    const { client } = link;
    if (!(await until(() => client.status === 'ready', START_MS))) throw new Error(`${name}: ${link.trouble() ?? 'no connection'}`);
    return client.call(name, [...args]);
  };
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    socket,
    url,
    get pid() {
      return child?.pid ?? Number.NaN;
    },
    async start() {
      const [program = 'redis-server', ...args] = [
        ...through,
        'redis-server',
        ...['--port', String(port), '--bind', '0.0.0.0', '--protected-mode', 'no'],
        ...['--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', dir],
      ];
      const started = spawn(program, args, { stdio: 'ignore' });
      child = started;
      const failed = once(started, 'error').then(([error]) => Promise.reject(error));
      await Promise.race([failed, command('PING')]);
      if (started.exitCode !== null) throw new Error(`redis-server ended with ${started.exitCode}`);
    },
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    command,
    async remove() {
      link?.close();
      await kill();
      process.off('exit', killNow);
    },
  };
}
