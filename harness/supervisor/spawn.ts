// Forks one child of the supervisor: worker or learner, from TypeScript sources or from dist, with its shared memory as inherited fds.
// Its end is known from the kernel (waitpid behind the 'exit' event), never from silence.
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Channel } from '../bus/channel.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { createOutputTail } from './output-tail.js';

/** Inherited fds of a child: 0 to 2 are standard, 3 is IPC, then the control page, the error tables, and the segments. */
export const FIRST_CHILD_FD = 4;
export const CONTROL_CHILD_FD = FIRST_CHILD_FD;
export const ERRORS_CHILD_FD = 5;
export const FIRST_SEGMENT_FD = 6;
/** After death, the pipes may hold last words; a grandchild that kept them open must not keep us waiting. */
const LAST_WORDS_MS = 250;

export interface ExitStatus {
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** "SIGKILL", "exit code 3", or why it could not be started. */
  readonly cause: string;
  readonly outputTail: string;
}

export interface Child<Out, In> {
  readonly pid: number | null;
  readonly channel: Channel<Out, In>;
  /** Resolves when the kernel has confirmed the end. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** False once the end is confirmed. */
  readonly alive: boolean;
  /** What it wrote so far, the newest of it. */
  outputTail(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Where Node can be told so, SIGUSR1 opens no inspector even while a child still boots; elsewhere the child's own handler has to be in place. */
const NO_INSPECTOR = '--disable-sigusr1';

/** Sources run through tsx, dist does not need it. Resolved from here: the child's cwd may have no node_modules. */
export function execArgvFor(entry: string, allowed: ReadonlySet<string> = process.allowedNodeEnvironmentFlags): string[] {
  const flags = allowed.has(NO_INSPECTOR) ? [NO_INSPECTOR] : [];
  return entry.endsWith('.ts') ? [...flags, '--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : flags;
}

/** The child's entry beside ours: `../worker/entry` ends in .ts when we run from sources, in .js in dist. */
export function entryUrl(path: string): URL {
  return new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}

/** Ends what a dead child's envs have started and left in its process group. */
function sweepGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // ESRCH: the group is empty, as it should be.
  }
}

/** Forks `entry`; `fds` become CONTROL_CHILD_FD and those that follow. Call from the main thread: PR_SET_PDEATHSIG is per thread. */
export function spawnChild<Out, In>(entry: URL, fds: readonly number[]): Child<Out, In> {
  const path = fileURLToPath(entry);
  const child = fork(path, [], {
    execArgv: execArgvFor(path),
    serialization: 'advanced',
    // A session of its own: Ctrl-C reaches the supervisor alone, also while a child still boots, and what an env starts can be swept.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...fds],
  });
  const tail = createOutputTail();
  // Absent when the start itself failed.
  if (child.stdout) tail.listen(child.stdout);
  if (child.stderr) tail.listen(child.stderr);
  const channel = ipcChannel<Out, In>(child);
  let alive = true;
  const exit = new Promise<ExitStatus>((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null, cause: string): void => {
      if (!alive) return;
      alive = false;
      if (child.pid !== undefined) sweepGroup(child.pid);
      const done = (): void => resolve({ code, signal, cause, outputTail: tail.text() });
      const timer = setTimeout(done, LAST_WORDS_MS);
      child.once('close', () => {
        clearTimeout(timer);
        done();
      });
    };
    child.once('exit', (code, signal) => settle(code, signal, signal ?? `exit code ${code}`));
    child.once('error', (error) => {
      // Only a failed start has no pid; other errors (a failed kill or send) are followed by 'exit'.
      if (child.pid === undefined) settle(null, null, `could not be started: ${error.message}`);
    });
  });
  return {
    pid: child.pid ?? null,
    channel,
    exit,
    get alive() {
      return alive;
    },
    outputTail: tail.text,
    kill(signal) {
      if (alive) child.kill(signal);
    },
  };
}
