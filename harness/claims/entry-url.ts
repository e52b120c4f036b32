// Where a claim's own processes and threads begin: files in entries/, from TypeScript sources or from dist. Node 20 gives a thread no way to
// inherit tsx, so a line of script registers it first.
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { execArgvFor } from '../supervisor/spawn.js';

const SOURCES = import.meta.url.endsWith('.ts');

/** A file of this folder, source or compiled twin, by its path without the ending. */
export function claimFile(path: string): URL {
  return new URL(`./${path}${SOURCES ? '.ts' : '.js'}`, import.meta.url);
}

/** `entries/NAME.ts` or its compiled twin. */
export function claimEntry(name: string): URL {
  return claimFile(`entries/${name}`);
}

/** Starts `entries/NAME` as a thread. The caller ends it with `terminate`. */
export function startClaimThread(name: string, options: WorkerOptions): Worker {
  const entry = claimEntry(name);
  if (!SOURCES) return new Worker(entry, options);
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const script = `import { register } from ${tsx}; register(); await import(${JSON.stringify(entry.href)});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), options);
}

/** Forks `entries/NAME` with an IPC channel. The caller kills it and awaits its exit. */
export function forkClaimProcess(name: string, args: readonly string[] = [], options: ForkOptions = {}): ChildProcess {
  const path = fileURLToPath(claimEntry(name));
  return fork(path, args, { execArgv: execArgvFor(path), serialization: 'advanced', ...options });
}
