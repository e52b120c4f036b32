// Builds the native test programs once per process and runs them. A sanitizer that this machine cannot link is reported, not failed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const NATIVE = fileURLToPath(new URL('../../native/', import.meta.url));

let unavailable: Record<string, string> | undefined;

/** Path of a test program, e.g. `unit.tsan`, or the reason why it cannot exist here. Throws the compiler's words when it does not compile. */
export function program(name: string): { path: string } | { missing: string } {
  if (unavailable === undefined) {
    const build = spawnSync(process.execPath, [join(NATIVE, 'build.mjs'), '--tests'], { encoding: 'utf8' });
    if (build.status !== 0) throw new Error(`the native test programs do not build:\n${build.stderr}`);
    unavailable = JSON.parse(readFileSync(join(NATIVE, 'build', 'test', 'unavailable.json'), 'utf8')) as Record<string, string>;
  }
  const missing = unavailable[name];
  return missing === undefined ? { path: join(NATIVE, 'build', 'test', name) } : { missing };
}

export interface ProgramResult {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  /** The line of JSON on stdout. */
  readonly said: Record<string, number>;
}

/** Runs a program to its end; `timeoutMs` is a watchdog that kills it. */
export function runProgram(command: string, args: readonly string[], timeoutMs: number): ProgramResult {
  const run = spawnSync(command, args, { encoding: 'utf8', timeout: timeoutMs, killSignal: 'SIGKILL' });
  const said = run.stdout?.trim();
  return {
    status: run.status,
    signal: run.signal,
    stderr: run.stderr ?? '',
    said: said ? (JSON.parse(said) as Record<string, number>) : {},
  };
}
