// A watchdog over `env check`: the kind runs in this process, and one that spins for ever never gives the event loop back. So the
// watchdog is a thread, and it ends the process.
import { Worker } from 'node:worker_threads';
import { EXIT } from '../contract/exit-codes.js';

/** Starts it; the returned function ends it. */
export function watchCheck(kind: string, seconds: number): () => void {
  const limitMs = seconds * 1000;
  const message = `envladder: env kind '${kind}' did not finish its check within ${limitMs / 1000} s: one of its calls hangs, or it is slow (--timeout SECONDS)\n(env-failed, exit code ${EXIT.invalid})\n`;
  const script = `const { workerData } = require('node:worker_threads');
setTimeout(() => { require('node:fs').writeSync(2, workerData.message); process.kill(process.pid, 0); process.exitCode = 0; require('node:process').reallyExit(workerData.code); }, workerData.limitMs);`;
  const thread = new Worker(script, { eval: true, workerData: { message, limitMs, code: EXIT.invalid } });
  thread.unref();
  return () => void thread.terminate();
}
