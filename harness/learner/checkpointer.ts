// When checkpoints are written: every `intervalSeconds` while something was trained, on request, and at stop; one at a time, beside the
// training. A write that fails is a warning, not the end of a run: the older checkpoints are still there.
import type { FromLearner } from '../contract/messages.js';
import { stepOf, writeCheckpoint } from './checkpoint-write.js';
import type { Policy } from './policy.js';

export interface Checkpointer {
  /** Asks for one: the next `writeIfDue` starts it, as soon as none is being written. */
  request(reason: string): void;
  /** Call between updates, when the policies are whole. One that is due while another is being written is skipped. */
  writeIfDue(): void;
  /** The last one. Resolves when it is written or failed, or with a warning after `withinMs`: a slow disk must not cost the last words. */
  finish(reason: string, withinMs: number): Promise<void>;
}

export interface CheckpointerOptions {
  /** Null writes nothing. */
  readonly folder: string | null;
  readonly runId: string;
  readonly policies: readonly Policy[];
  readonly intervalSeconds: number;
  readonly nowMs: () => number;
  readonly send: (message: FromLearner) => void;
}

/** The first one comes this soon: a learner that dies in its first minute should not have learned for nothing. */
const FIRST_AFTER_SECONDS = 10;

export function createCheckpointer({ folder, runId, policies, intervalSeconds, nowMs, send }: CheckpointerOptions): Checkpointer {
  let lastMs = nowMs() - Math.max(0, intervalSeconds - FIRST_AFTER_SECONDS) * 1000;
  let wanted: string | null = null;
  let running: Promise<void> | null = null;
  /** Of the newest one that this process has written or found. */
  let writtenStep = -1;

  const start = (where: string, reason: string): Promise<void> => {
    const beganMs = nowMs();
    const step = stepOf(policies);
    lastMs = beganMs;
    wanted = null;
    if (step === writtenStep) return Promise.resolve();
    const write = writeCheckpoint(where, runId, policies).then(
      ({ path, bytes, written, trouble }) => {
        writtenStep = step;
        if (written) send({ type: 'checkpoint', path, bytes, seconds: (nowMs() - beganMs) / 1000, reason });
        if (trouble !== null) send({ type: 'warning', message: `checkpoint ${path} is whole, but the folder is not in order: ${trouble}` });
      },
      (error: unknown) => {
        send({ type: 'warning', message: `no checkpoint was written to ${where}: ${(error as Error).message}` });
      },
    );
    running = write.finally(() => {
      running = null;
    });
    return running;
  };

  return {
    request(reason) {
      wanted = reason;
    },
    writeIfDue() {
      if (folder === null || running !== null) return;
      if (wanted !== null) void start(folder, wanted);
      else if (nowMs() - lastMs >= intervalSeconds * 1000) void start(folder, 'interval');
    },
    async finish(reason, withinMs) {
      if (folder === null) return;
      const last = async (): Promise<'done'> => {
        await running;
        await start(folder, reason);
        return 'done';
      };
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, withinMs), 'late');
      });
      const outcome = await Promise.race([last(), late]);
      clearTimeout(timer);
      if (outcome === 'late') {
        send({
          type: 'warning',
          message: `the last checkpoint was not written to ${folder} within ${(withinMs / 1000).toFixed(1)} s; the newest one before it stays`,
        });
      }
    },
  };
}
