// Failures of single envs as lifecycle events: one event per failure told in full, one for all the rest of its batch.
import type { EnvFailure } from '../contract/messages.js';
import type { CrewEvent } from './crew.js';

export function reportFailures(
  emit: (event: CrewEvent) => void,
  worker: number,
  failures: readonly EnvFailure[],
  alsoFailed: readonly number[],
): void {
  for (const { envId, entry, code, operation, message, breach } of failures) {
    emit({
      type: operation === 'reset' ? 'reset-failed' : 'env-failed',
      message,
      worker,
      envId,
      detail: { entry, code, operation, ...(breach === undefined ? {} : { breach }) },
    });
  }
  const count = failures.length + alsoFailed.length;
  emit({
    type: 'env-quarantined',
    message: `worker ${worker}: ${count} env${count === 1 ? ' is' : 's are'} out of the run`,
    worker,
    detail: { envIds: [...failures.map((failure) => failure.envId), ...alsoFailed] },
  });
}
