// A world of shared memory of a claim's own: an IPC namespace and a mount namespace with an empty /dev/shm, so that a cleaner may be let loose
// without meeting anybody else's segments. Lives as long as a shell in it does, and that ends with our stdin to it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandProblem } from '../../chaos/machine-needs.js';
import { entryUrl, execArgvFor } from '../../supervisor/spawn.js';

const run = promisify(execFile);
const START_MS = 10_000;

export interface IpcWorld {
  /** Its /dev/shm, as a path that works from out here. */
  readonly shm: string;
  /** Runs a command in it; its output. */
  command(name: string, ...args: readonly string[]): Promise<string>;
  /** Starts an entry of ours in it, with an IPC channel, in a session of its own: Ctrl-C is for us alone. */
  fork(entry: string): ChildProcess;
  /** Everything in it is gone with it, once its processes are. */
  close(): Promise<void>;
}

/** Why there can be none here, or null. */
export function ipcWorldProblem(): string | null {
  return (
    commandProblem('ipcs', ['-m']) ??
    commandProblem('unshare', ['-im', 'mount', '-t', 'tmpfs', 'tmpfs', '/dev/shm']) ??
    commandProblem('unshare', ['-i', 'ipcs', '-m']) ??
    commandProblem('unshare', ['-i', 'ipcmk', '-M', '4096']) ??
    commandProblem('nsenter', ['--version'])
  );
}

export async function openIpcWorld(): Promise<IpcWorld> {
  const shell = spawn('unshare', ['-im', 'sh', '-c', 'mount -t tmpfs tmpfs /dev/shm && echo ready && read -r _'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const exited = new Promise<void>((done) => shell.once('close', () => done()));
  const ready = await Promise.race([
    once(shell.stdout, 'data', { signal: AbortSignal.timeout(START_MS) }).then(() => true),
    exited.then(() => false),
  ]).catch(() => false);
  const close = async (): Promise<void> => {
    shell.stdin.end();
    await exited;
  };
  if (!ready || shell.pid === undefined) {
    shell.kill('SIGKILL');
    throw new Error('no IPC namespace with a /dev/shm of its own could be made');
  }
  const inside = ['-t', String(shell.pid), '-i', '-m'];
  return {
    shm: join('/proc', String(shell.pid), 'root/dev/shm'),
    command: async (name, ...args) => (await run('nsenter', [...inside, name, ...args])).stdout,
    fork(entry) {
      const path = fileURLToPath(entryUrl(entry));
      const args = [...inside, process.execPath, ...execArgvFor(path), path];
      return spawn('nsenter', args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced', detached: true });
    },
    close,
  };
}
