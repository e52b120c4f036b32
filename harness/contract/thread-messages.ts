// The envelope between the supervisor and a thread host: one process that runs several seats, a worker thread each, over one IPC channel.
// What it carries are the ordinary messages of contract/messages.ts; nothing here is on the step path.
import type { FromWorker, ToWorker } from './messages.js';

export type ToThreadHost =
  /** First message: the host dies with this process. */
  | { readonly type: 'host'; readonly parentPid: number }
  /** Starts a thread for the seat; its `start` message follows as an ordinary one. */
  | { readonly type: 'spawn'; readonly seat: number }
  | { readonly type: 'message'; readonly seat: number; readonly message: ToWorker }
  /** Ends the thread as SIGTERM ends a worker process: it finishes its step, closes its envs, leaves. */
  | { readonly type: 'terminate'; readonly seat: number }
  /** Ends the thread at its next JavaScript instruction. */
  | { readonly type: 'kill'; readonly seat: number };

export type FromThreadHost =
  | { readonly type: 'message'; readonly seat: number; readonly message: FromWorker }
  /** The thread is gone: no instruction of it runs any more. `cause` is "exit code 3", "killed" or what it threw. */
  | { readonly type: 'exited'; readonly seat: number; readonly code: number; readonly cause: string; readonly outputTail: string };
