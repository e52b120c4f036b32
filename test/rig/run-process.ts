// Runs one command for the rig tests, with a bound on its time, and keeps what it printed. Everything printed by any command of a test file
// is kept in `transcript`, where the test of secrets looks for them.
import { spawn } from 'node:child_process';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  /** Called with the process id, for tests that kill. */
  readonly onStart?: (pid: number) => void;
  readonly onOutput?: (text: string) => void;
}

/** Emulated machines are slow, and busy computers make them slower: this only catches what hangs. */
const WATCHDOG_MS = 900_000;

export const transcript: string[] = [];

export function runProcess(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: options.env ?? process.env, cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (bytes) => {
      stdout += bytes;
      options.onOutput?.(String(bytes));
    });
    child.stderr.on('data', (bytes) => (stderr += bytes));
    const timeoutMs = options.timeoutMs ?? WATCHDOG_MS;
    const watchdog = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${command} ${args.join(' ')} did not end within ${timeoutMs} ms; it said:\n${stdout}${stderr}`));
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      transcript.push(stdout, stderr);
      resolve({ code, signal, stdout, stderr });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    if (child.pid !== undefined) options.onStart?.(child.pid);
  });
}

/** As runProcess, for what must work. */
export async function runOrThrow(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const finished = await runProcess(command, args, options);
  if (finished.code === 0) return finished.stdout;
  throw new Error(`${command} ${args.join(' ')} ended with ${finished.signal ?? finished.code}:\n${finished.stdout}${finished.stderr}`);
}
