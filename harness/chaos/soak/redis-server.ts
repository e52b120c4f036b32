// A Redis server of the soak's own, on a unix socket in its folder, to be taken away and brought back. Nothing of it is kept on the disk.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandProblem } from '../machine-needs.js';
import { until } from '../until.js';

export interface OwnRedis {
  readonly url: string;
  /** Resolves when it answers; throws when it does not start. */
  start(): Promise<void>;
  /** SIGKILL, confirmed. */
  kill(): Promise<void>;
}

/** Null when there is no redis-server on PATH. */
export function ownRedis(dir: string): OwnRedis | null {
  if (commandProblem('redis-server', ['--version']) !== null) return null;
  const socket = join(dir, 'redis.sock');
  let child: ChildProcess | null = null;
  return {
    url: `unix://${socket}`,
    async start() {
      if (child !== null) return;
      rmSync(socket, { force: true });
      child = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', dir], {
        stdio: 'ignore',
      });
      if (!(await until(() => existsSync(socket), 10_000))) throw new Error('redis-server did not start within 10 s');
    },
    async kill() {
      if (child === null) return;
      const mine = child;
      child = null;
      const gone = new Promise<void>((done) => mine.once('exit', () => done()));
      if (mine.exitCode !== null || mine.signalCode !== null) return;
      mine.kill('SIGKILL');
      await gone;
    },
  };
}
