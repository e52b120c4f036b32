// When checkpoints are written: every `intervalSeconds` while something was trained, on request, and at stop. A write that fails is a
// warning, not the end of a run: the older checkpoints are still there.
import type { FromLearner } from '../contract/messages.js';
import { writeCheckpoint } from './checkpoint-write.js';
import type { Policy } from './policy.js';

export interface Checkpointer {
  write(reason: string): void;
  writeIfDue(): void;
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

export function createCheckpointer({ folder, runId, policies, intervalSeconds, nowMs, send }: CheckpointerOptions): Checkpointer {
  let lastMs = nowMs();
  const write = (reason: string): void => {
    if (folder === null) return;
    const beganMs = nowMs();
    lastMs = beganMs;
    try {
      const { path, bytes, written } = writeCheckpoint(folder, runId, policies);
      if (written) send({ type: 'checkpoint', path, bytes, seconds: (nowMs() - beganMs) / 1000, reason });
    } catch (error) {
      send({ type: 'warning', message: `no checkpoint was written to ${folder}: ${(error as Error).message}` });
    }
  };
  return {
    write,
    writeIfDue() {
      if (nowMs() - lastMs >= intervalSeconds * 1000) write('interval');
    },
  };
}
