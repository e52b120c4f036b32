// Starts one seat's thread and knows its end from Node, which has joined the thread by then: nothing of it runs any more. What it prints
// goes on to the host's own output, and the newest of it into its exit report.
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import { portChannel } from './port-channel.js';

const TAIL_CHARS = 8192;

export interface ThreadEnd {
  readonly code: number;
  readonly cause: string;
  readonly outputTail: string;
}

export interface SeatThread {
  send(message: ToWorker): void;
  /** Ends it at its next JavaScript instruction; `onExit` says when. */
  kill(): void;
}

export interface SeatThreadOptions {
  readonly onMessage: (message: FromWorker) => void;
  readonly onExit: (end: ThreadEnd) => void;
}

/** The thread's entry beside this file. Sources need tsx, whose hooks a thread does not inherit. */
function createThread(): Worker {
  const own = import.meta.url;
  const options = { stdout: true, stderr: true, execArgv: [] };
  if (!own.endsWith('.ts')) return new Worker(new URL('./thread-seat.js', own), options);
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const entry = JSON.stringify(new URL('./thread-seat.ts', own).href);
  return new Worker(`import(${tsx}).then(({ register }) => { register(); return import(${entry}); })`, { ...options, eval: true });
}

export function startSeatThread({ onMessage, onExit }: SeatThreadOptions): SeatThread {
  const thread = createThread();
  const channel = portChannel<ToWorker, FromWorker>(thread);
  let killed = false;
  let tail = '';
  const listen = (from: Readable, to: NodeJS.WriteStream): void => {
    from.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-TAIL_CHARS);
      to.write(text);
    });
  };
  listen(thread.stdout, process.stdout);
  listen(thread.stderr, process.stderr);
  channel.onMessage(onMessage);
  thread.on('error', (error: unknown) => {
    // Its last words, as a process would have printed them; the cause is the exit, so that both are judged alike.
    tail = `${tail}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`.slice(-TAIL_CHARS);
  });
  thread.on('exit', (code) => {
    channel.close();
    onExit({ code, cause: killed ? 'killed' : `exit code ${code}`, outputTail: tail });
  });
  return {
    send: channel.send,
    kill() {
      killed = true;
      void thread.terminate();
    },
  };
}
