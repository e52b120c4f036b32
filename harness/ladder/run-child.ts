// Runs a command of a comparison to its end: a build step or a whole ladder. It gets a process group of its own, so that Ctrl-C reaches it
// once and through us; its stderr is kept for the message should it fail.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Interrupts } from './interrupts.js';

const MAX_TAIL_CHARS = 4_000;

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderrTail: string;
}

/**
 * Never rejects for what the command does; a command that cannot be started ends with code null and the reason as its stderr. Its stdout goes
 * into `stdoutFile`, or nowhere.
 */
export function runChild(words: readonly string[], cwd: string, interrupts: Interrupts, stdoutFile?: string): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const stdout = stdoutFile === undefined ? 'ignore' : openSync(stdoutFile, 'w');
    const child = spawn(words[0] ?? '', words.slice(1), { cwd, detached: true, stdio: ['ignore', stdout, 'pipe'] });
    if (typeof stdout === 'number') closeSync(stdout);
    let tail = '';
    const pass = (): void => void child.kill('SIGINT');
    let running = true;
    const end = (result: ChildEnd): void => {
      running = false;
      resolve(result);
    };
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-MAX_TAIL_CHARS);
    });
    child.on('error', (error) => end({ code: null, signal: null, stderrTail: error.message }));
    child.on('close', (code, signal) => end({ code, signal, stderrTail: tail.trim() }));
    void interrupts.first.then(() => running && pass());
    void interrupts.second.then(() => running && pass());
  });
}
