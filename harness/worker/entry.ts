// Entry of a worker process. Forked by the supervisor with the control page and its segment as inherited fds; lives until told to stop,
// until its envs take it down, or until its supervisor is gone, however that died.
import { constants } from 'node:os';
import { loadNative } from '../../native/index.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { runWorker } from './run-worker.js';

// Ctrl-C and a closing terminal signal the whole process group; the supervisor alone decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const channel = ipcChannel<FromWorker, ToWorker>(process);
channel.onClose(() => process.exit(CHILD_EXIT.orphaned));

function exitFor(error: unknown): number {
  return error instanceof EnvladderError && error.detail.fenced === true ? CHILD_EXIT.fenced : CHILD_EXIT.fatal;
}

async function live(message: ToWorker): Promise<void> {
  if (message.type !== 'start') return;
  try {
    if (!loadNative().dieWithParent(constants.signals.SIGKILL, message.parentPid)) process.exit(CHILD_EXIT.orphaned);
    await runWorker(message, { memory: createNativeMemory(), channel });
    await channel.drained();
    process.exit(CHILD_EXIT.stopped);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${text}\n`);
    channel.send({
      type: 'fatal',
      code: error instanceof EnvladderError ? error.code : 'worker-died',
      message: error instanceof Error ? error.message : String(error),
    });
    await channel.drained();
    process.exit(exitFor(error));
  }
}

channel.onMessage((message) => void live(message));
