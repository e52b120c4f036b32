// Real processes for tests of locks and kills: runs a file of children/ under tsx, speaks with it in lines.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly process: ChildProcess;
  /** The next line of its stdout; rejects when it ends without one. */
  readonly line: () => Promise<string>;
  readonly say: (line: string) => void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly stderr: string }>;
}

export function spawnChild(t: TestContext, name: string, args: readonly string[], options: SpawnOptions = {}): Child {
  const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { ...options, stdio: 'pipe' });
  t.after(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.on('data', (data: Buffer) => (stderr += data.toString()));
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  return {
    process: child,
    async line() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${name} ended without a line: ${stderr}`);
      return value;
    },
    say: (line) => child.stdin?.write(`${line}\n`),
    ended: once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as string | null, stderr })),
  };
}
