// Entry of the learner process. Forked by the supervisor with the control page, the error tables and every segment as inherited fds; lives
// until told to stop or until its supervisor is gone, however that died. Imports little itself: signals are answered before the rest loads.
import { availableParallelism, constants } from 'node:os';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromLearner, ToLearner } from '../contract/messages.js';
import { listenToSignals } from './signals.js';

/** Copying images is memory-bound: more threads than this bring nothing. */
const MAX_GATHER_THREADS = 8;

const signals = listenToSignals();
const channel = ipcChannel<FromLearner, ToLearner>(process);
channel.onClose(() => process.exit(CHILD_EXIT.orphaned));
// The channel keeps what comes before its first listener, below.
const { loadNative } = await import('../../native/index.js');
const { createNativeMemory } = await import('../memory/native-memory.js');
const { openBackend } = await import('./backends.js');
const { runLearner } = await import('./run-learner.js');
const { parseTestFault, TEST_FAULT_VARIABLE } = await import('./test-fault.js');

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
      terminated: signals.terminated,
      testFault: parseTestFault(process.env[TEST_FAULT_VARIABLE]),
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
