// Where a restarted learner goes on: the folder of its own run's checkpoints once there is a complete one (the learner takes the newest that
// holds), else what the run itself was resumed from. Folder names are those of learner/checkpoint-format.ts.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Trained transitions as twelve or more digits; unfinished ones end in -tmp. */
const COMPLETE = /^\d{12,}$/;

export function checkpointToResume(checkpointDir: string | null, resume: string | null): string | null {
  if (checkpointDir === null) return resume;
  try {
    const written = readdirSync(checkpointDir).some(
      (name) => COMPLETE.test(name) && existsSync(join(checkpointDir, name, 'manifest.json')),
    );
    return written ? checkpointDir : resume;
  } catch {
    // No folder yet: nothing was written.
    return resume;
  }
}
