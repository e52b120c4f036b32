// Entry of the learner process. Forked by the supervisor with the control page and every segment as inherited fds; lives until told to
// stop or until its supervisor is gone, however that died.
import { availableParallelism, constants } from 'node:os';
import { loadNative } from '../../native/index.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromLearner, ToLearner } from '../contract/messages.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { openBackend } from './backends.js';
import { runLearner } from './run-learner.js';

/** Copying images is memory-bound: more threads than this bring nothing. */
const MAX_GATHER_THREADS = 8;

// Ctrl-C and a closing terminal signal the whole process group; the supervisor alone decides what they mean.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const channel = ipcChannel<FromLearner, ToLearner>(process);
channel.onClose(() => process.exit(CHILD_EXIT.orphaned));

async function live(message: ToLearner): Promise<void> {
  if (message.type !== 'start') return;
  try {
    if (!loadNative().dieWithParent(constants.signals.SIGKILL, message.parentPid)) process.exit(CHILD_EXIT.orphaned);
    const spareCores = availableParallelism() - message.workers;
    await runLearner(message, {
      memory: createNativeMemory(),
      channel,
      openBackend,
      nowMs: () => Number(process.hrtime.bigint()) / 1e6,
      gatherThreads: Math.max(1, Math.min(MAX_GATHER_THREADS, spareCores)),
    });
    await channel.drained();
    process.exit(CHILD_EXIT.stopped);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    channel.send({
      type: 'fatal',
      code: error instanceof EnvladderError ? error.code : 'learner-died',
      message: error instanceof Error ? error.message : String(error),
    });
    await channel.drained();
    process.exit(CHILD_EXIT.fatal);
  }
}

channel.onMessage((message) => void live(message));
