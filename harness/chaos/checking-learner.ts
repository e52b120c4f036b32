// Entry of a learner that trusts nobody: the ordinary learner on memory that checks every frame it takes (checked-memory.ts). Counts
// travel in its snapshots as losses of `chaos-check`, violations as warnings, so that it serves under the ordinary supervisor.
// ENVLADDER_CHAOS_PACE_MS is the least time between two batches.
import { constants } from 'node:os';
import { loadNative } from '../../native/index.js';
import type { Channel } from '../bus/channel.js';
import { ipcChannel } from '../bus/ipc-channel.js';
import { CHILD_EXIT } from '../contract/child-exit-codes.js';
import type { FromLearner, ToLearner } from '../contract/messages.js';
import type { LearnerSnapshot } from '../contract/snapshot.js';
import { openBackend } from '../learner/backends.js';
import { runLearner } from '../learner/run-learner.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { CHECK_LOSSES, CHECK_WARNING, PACE_VARIABLE } from './check-words.js';
import { checkMemory } from './checked-memory.js';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => undefined);

const channel = ipcChannel<FromLearner, ToLearner>(process);
channel.onClose(() => process.exit(CHILD_EXIT.orphaned));

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const word = new Int32Array(new SharedArrayBuffer(4));
const checked = checkMemory(createNativeMemory(), {
  paceMs: Number(process.env[PACE_VARIABLE] ?? 0),
  sleepMs: (ms) => void Atomics.wait(word, 0, 0, ms),
  nowMs,
});

/** A snapshot that carries the check's counts. */
const counted = (snapshot: LearnerSnapshot): LearnerSnapshot => ({
  ...snapshot,
  losses: { ...snapshot.losses, [CHECK_LOSSES]: checked.counts() },
});

const telling = Object.create(channel, {
  send: {
    value: (message: FromLearner) => {
      for (const told of checked.takeTold()) channel.send({ type: 'warning', message: `${CHECK_WARNING}${told}` });
      channel.send('snapshot' in message ? { ...message, snapshot: counted(message.snapshot) } : message);
    },
  },
}) as Channel<FromLearner, ToLearner>;

async function live(message: ToLearner): Promise<void> {
  if (message.type !== 'start') return;
  try {
    if (!loadNative().dieWithParent(constants.signals.SIGKILL, message.parentPid)) process.exit(CHILD_EXIT.orphaned);
    await runLearner(message, { memory: checked.memory, channel: telling, openBackend, nowMs, gatherThreads: 1 });
    await channel.drained();
    process.exit(CHILD_EXIT.stopped);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    channel.send({ type: 'fatal', code: 'learner-died', message: error instanceof Error ? error.message : String(error) });
    await channel.drained();
    process.exit(CHILD_EXIT.fatal);
  }
}

channel.onMessage((message) => void live(message));
