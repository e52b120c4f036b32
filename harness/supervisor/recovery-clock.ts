// Times the recovery of one seat: from the moment its worker was known to be gone to the first frame that the next life published. Told as
// one event. A seat without envs has recovered when its process is up.
import type { Progress } from '../memory/control.js';
import type { CrewEvent } from './crew.js';

export interface RecoveryClock {
  /** The last life is over, for `cause`; `detectMs` is how long that took to be known. */
  begin(nowMs: number, cause: string, detectMs: number): void;
  /** A life of this epoch is up. */
  look(nowMs: number, progress: Pick<Progress, 'frames' | 'epoch'>, epoch: number, pid: number | null): void;
}

export function createRecoveryClock(worker: number, emit: (event: CrewEvent) => void, hasEnvs: () => boolean): RecoveryClock {
  let open: { readonly sinceMs: number; readonly cause: string; readonly detectMs: number } | null = null;
  return {
    begin(nowMs, cause, detectMs) {
      // A second death before the first recovery: the seat has been away since the first.
      open = { sinceMs: open?.sinceMs ?? nowMs, cause, detectMs };
    },
    look(nowMs, { frames, epoch: seen }, epoch, pid) {
      if (open === null || seen !== epoch || (frames === 0 && hasEnvs())) return;
      const { sinceMs, cause, detectMs } = open;
      open = null;
      const recoverMs = Math.round(nowMs - sinceMs);
      emit({
        type: 'worker-recovered',
        message: `worker ${worker} publishes again ${recoverMs} ms after ${cause} was noticed (pid ${pid}, epoch ${epoch})`,
        worker,
        detail: { cause, epoch, pid, detect_ms: Math.round(detectMs), recover_ms: recoverMs },
      });
    },
  };
}
