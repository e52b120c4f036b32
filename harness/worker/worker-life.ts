// One worker's life as its process or thread sees it: run it, say what it died of, and with which code to leave.
import type { Channel } from '../bus/channel.js';
import { CHILD_EXIT, type ChildExit } from '../contract/child-exit-codes.js';
import { EnvladderError } from '../contract/errors.js';
import type { FromWorker, ToWorker, WorkerStart } from '../contract/messages.js';
import { createNativeMemory } from '../memory/native-memory.js';
import { type Heart, runWorker } from './run-worker.js';

/** Only `health.mode: account` has a heart; where it beats, the supervisor left in the environment. The client is loaded when it begins. */
function heartOf({ health, runId, worker }: WorkerStart): { heart?: Heart } {
  if (health.mode !== 'account') return {};
  let heart: Promise<Heart | undefined> = Promise.resolve(undefined);
  return {
    heart: {
      start(seat, epoch) {
        const everyMs = health.account.beatSeconds * 1000;
        heart = import('../bus/state/account-heart.js').then(({ accountHeartFrom }) =>
          accountHeartFrom(process.env, runId, worker, everyMs),
        );
        void heart.then((one) => one?.start(seat, epoch));
      },
      stop: async () => (await heart)?.stop(),
    },
  };
}

/** Never rejects; resolves once everything it had to say has left. */
export async function liveWorker(start: WorkerStart, channel: Channel<FromWorker, ToWorker>, ending?: AbortSignal): Promise<ChildExit> {
  try {
    await runWorker(start, {
      memory: createNativeMemory(),
      channel,
      ...heartOf(start),
      ...(ending === undefined ? {} : { ending }),
    });
    await channel.drained();
    return CHILD_EXIT.stopped;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    channel.send({
      type: 'fatal',
      code: error instanceof EnvladderError ? error.code : 'worker-died',
      message: error instanceof Error ? error.message : String(error),
    });
    await channel.drained();
    return error instanceof EnvladderError && error.detail.fenced === true ? CHILD_EXIT.fenced : CHILD_EXIT.fatal;
  }
}
