// I4: the newest checkpoint that was committed loads, by the reader that a resumed run uses.
import { existsSync, readdirSync } from 'node:fs';
import { newestCheckpoint } from '../../learner/checkpoint-read.js';
import type { Finding } from '../chaos-row.js';

/** `folder`: the run's checkpoints; null when it has no learner that writes some. */
export function judgeCheckpoint(folder: string | null): Finding {
  if (folder === null) return { ok: null, evidence: 'no learner that writes checkpoints' };
  const held = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
  if (held.length === 0) return { ok: null, evidence: 'no checkpoint was due' };
  try {
    const { checkpoint } = newestCheckpoint(folder);
    return { ok: true, evidence: `newest of ${held.length} loads: ${checkpoint.path}` };
  } catch (error) {
    return { ok: false, evidence: (error as Error).message };
  }
}
