// A worker's death told twice: as a row of the record (Death) and as a lifecycle event, both with the last env and operation.
import type { Progress } from '../memory/control.js';
import type { CrewPorts } from './crew-ports.js';
import type { ExitStatus } from './spawn.js';
import type { WorkerLife } from './worker-life.js';

/** Cause of who was killed because a stop took too long. */
export const NOT_IN_TIME = 'it did not stop in time and was killed';

export interface WorkerDeath {
  readonly worker: number;
  readonly pid: number | null;
  readonly epoch: number;
  readonly cause: string;
  /** The worker's line at its death. */
  readonly progress: Progress;
  readonly outputTail: string;
  readonly restarted: boolean;
  /** From its last sign of life that counted to the moment the supervisor knew. */
  readonly detectMs?: number;
  /** More for the event: what was exceeded, what could not be confirmed. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The env in work, null when there was none or a run of many. */
function envOf({ envId, span }: Progress): number | null {
  return envId >= 0 && span === 1 ? envId : null;
}

function whereOf({ op, envId, span }: Progress): string {
  if (envId < 0) return op;
  return span === 1 ? `${op} of env ${envId}` : `${op} of one of envs ${envId} to ${envId + span - 1}`;
}

/** The event alone: for a worker that did not stop in time, which is no death of the run. */
function tellDeath({ emit }: Pick<CrewPorts, 'emit'>, death: WorkerDeath): void {
  const { worker, pid, epoch, cause, progress, restarted, outputTail, detectMs, detail } = death;
  const envId = envOf(progress);
  emit({
    type: 'worker-died',
    message: `worker ${worker} (pid ${pid}, epoch ${epoch}) died: ${cause}; last operation ${whereOf(progress)}; ${restarted ? 'it is started again' : 'it is not started again'}`,
    worker,
    ...(envId === null ? {} : { envId }),
    detail: {
      cause,
      operation: progress.op,
      ...(progress.span > 1 ? { firstEnvId: progress.envId, envs: progress.span } : {}),
      epoch,
      pid,
      restarted,
      stderrTail: outputTail,
      ...(detectMs === undefined ? {} : { detect_ms: Math.round(detectMs) }),
      ...detail,
    },
  });
}

export function reportDeath(ports: Pick<CrewPorts, 'emit' | 'die'>, death: WorkerDeath): void {
  const { worker, pid, cause, progress, outputTail, restarted } = death;
  ports.die({
    role: 'worker',
    worker,
    pid,
    cause,
    last_env_id: envOf(progress),
    last_operation: progress.op,
    stderr_tail: outputTail,
    restarted,
  });
  tellDeath(ports, death);
}

/** A life that ended while the run was being stopped. `destroyed`: because it took too long. A polite end is no death. */
export function reportAtStop(
  ports: Pick<CrewPorts, 'emit' | 'die' | 'control'>,
  worker: number,
  { child, epoch, killed }: Pick<WorkerLife, 'child' | 'epoch' | 'killed'>,
  { code, cause: by, outputTail }: ExitStatus,
  destroyed: boolean,
): void {
  const cause = destroyed ? NOT_IN_TIME : (killed?.cause ?? by);
  const death = { worker, pid: child.pid, epoch, cause, progress: ports.control.progress(worker), outputTail, restarted: false };
  if (destroyed) tellDeath(ports, death);
  else if (code !== 0 || killed !== null) reportDeath(ports, death);
}
