// Failures of single envs as lifecycle events: one event per failure told in full, and one per fate for all envs of the batch that met it.
import type { EnvFailure } from '../contract/messages.js';
import type { RunEventType } from '../contract/run-events.js';
import type { CrewEvent } from './crew.js';

type Fate = EnvFailure['fate'];

const FATES: Readonly<Record<Fate, { readonly type: RunEventType | null; readonly said: string }>> = {
  /** Its event comes when it steps again: env-rebuilt. */
  rebuild: { type: null, said: 'built anew' },
  'cool-down': { type: 'env-cooling', said: 'cooling down' },
  quarantine: { type: 'env-quarantined', said: 'out of the run' },
};

export function reportFailures(
  emit: (event: CrewEvent) => void,
  worker: number,
  failures: readonly EnvFailure[],
  also: Readonly<Record<Fate, readonly number[]>>,
): void {
  for (const { envId, entry, code, operation, message, breach, fate } of failures) {
    emit({
      type: operation === 'reset' ? 'reset-failed' : 'env-failed',
      message,
      worker,
      envId,
      detail: { entry, code, operation, fate, ...(breach === undefined ? {} : { breach }) },
    });
  }
  for (const [fate, { type, said }] of Object.entries(FATES) as [Fate, (typeof FATES)[Fate]][]) {
    const envIds = [...failures.filter((failure) => failure.fate === fate).map(({ envId }) => envId), ...also[fate]];
    if (type === null || envIds.length === 0) continue;
    emit({
      type,
      message: `worker ${worker}: ${envIds.length} env${envIds.length === 1 ? ' is' : 's are'} ${said}`,
      worker,
      detail: { envIds },
    });
  }
}
