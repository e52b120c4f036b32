// The last error of a worker that nobody caught: written into its error table before the process (or thread) ends of it, as it would have
// anyway. The supervisor owns the table, so the record outlives the worker.
import type { ErrorTables, OpName, Progress } from '../memory/control.js';
import { describeThrown } from './error-entry.js';

/** Records uncaught exceptions and unhandled rejections on `line` until the returned function is called. */
export function recordCrashes(errors: ErrorTables, line: number, progress: () => Progress, entryOf: (envId: number) => string): () => void {
  // The monitor sees both and changes nothing: Node still prints the error and exits with code 1.
  const note = (thrown: unknown): void => {
    const { envId, op } = progress();
    errors.add(line, { envId, entry: entryOf(envId), operation: op satisfies OpName, ...describeThrown(thrown) });
  };
  process.on('uncaughtExceptionMonitor', note);
  return () => void process.off('uncaughtExceptionMonitor', note);
}
