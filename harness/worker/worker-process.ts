// A worker that is a process of its own. Forked by the supervisor with the control page, the error tables and its segment as inherited
// fds; lives until told to stop, until its envs take it down, or until its supervisor is gone, however that died.
import { constants } from 'node:os';
import { loadNative } from '../../native/index.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import { liveWorker } from './worker-life.js';

/** Waits for the start message, lives, exits. `ending`: SIGTERM came. */
export function beWorkerProcess(ending: AbortSignal): void {
  const channel = ipcChannel<FromWorker, ToWorker>(process);
  channel.onClose(() => process.exit(CHILD_EXIT.orphaned));
  let living = false;
  const leave = (): void => {
    if (!living) process.exit(CHILD_EXIT.stopped);
  };
  if (ending.aborted) leave();
  ending.addEventListener('abort', leave);
  channel.onMessage((message) => {
    if (message.type !== 'start') return;
    living = true;
    if (!loadNative().dieWithParent(constants.signals.SIGKILL, message.parentPid)) process.exit(CHILD_EXIT.orphaned);
    void liveWorker(message, channel, ending).then((code) => process.exit(code));
  });
}
