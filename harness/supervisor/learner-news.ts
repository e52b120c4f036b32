// What the learner says that is of interest to people, as lifecycle events.
import type { FromLearner } from '../contract/messages.js';
import { monotonicMs } from './clock.js';
import type { CrewEvent } from './crew.js';

/** `life` counts from 0; `diedMs`: when the life before this one was known to be over. */
export function tellLearnerNews(emit: (event: CrewEvent) => void, message: FromLearner, life: number, diedMs: number): void {
  switch (message.type) {
    case 'ready': {
      const { pid, backend, backendVersion, resumedFrom } = message;
      const what = `(pid ${pid}, ${backend} ${backendVersion})`;
      if (life === 0) {
        emit({ type: 'learner-started', message: `learner is ready ${what}`, detail: { pid, backend, resumedFrom } });
        return;
      }
      const recoverMs = Math.round(monotonicMs() - diedMs);
      const from = resumedFrom === null ? 'from the start: there was no checkpoint' : `from ${resumedFrom}`;
      emit({
        type: 'learner-restarted',
        message: `learner is ready again ${what}, ${recoverMs} ms after its death, ${from}`,
        detail: { pid, backend, resumedFrom, life, recover_ms: recoverMs },
      });
      return;
    }
    case 'checkpoint': {
      const { path, bytes, seconds, reason } = message;
      emit({ type: 'checkpoint', message: `checkpoint ${path} (${bytes} bytes, ${reason})`, detail: { path, bytes, seconds, reason } });
      return;
    }
    case 'warning':
      emit({ type: 'warning', message: message.message });
      return;
    case 'stopped':
      emit({ type: 'learner-stopped', message: 'learner settled and stopped' });
      return;
    default:
  }
}
