// One life of a worker: the process (or thread) from its start to its confirmed end, and what was heard of it. Made by the seat's post, once
// per epoch; at most one life of a seat is given blocks at a time.
import type { EnvladderError } from '../contract/errors.js';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import type { Segment } from '../memory/interface.js';
import { childError } from './child-error.js';
import { monotonicMs } from './clock.js';
import type { CrewPorts, WorkerChild } from './crew-ports.js';
import { type Deferred, deferred } from './deferred.js';
import type { KillCause } from './liveness-judge.js';
import { startPatience } from './patience.js';
import type { ExitStatus } from './spawn.js';
import { type LifeStart, workerStart } from './worker-start.js';

export interface WorkerLife {
  readonly child: WorkerChild;
  readonly epoch: number;
  readonly startedMs: number;
  /** Its process is up: modules loaded, commands heard. Rejects when it ends before. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** What it said it died of. */
  readonly fatal: EnvladderError | null;
  /** Why the supervisor ends it; the first reason stands. */
  killed: { readonly cause: string; readonly judged: KillCause | undefined } | null;
  /** Kills for memory that its cgroup has counted since it began. */
  oomKills(): number;
  send(message: ToWorker): void;
}

export interface LifeHooks {
  /** Everything but `ready` and `fatal`, which the life keeps for itself. */
  readonly onMessage: (message: FromWorker, life: WorkerLife) => void;
  readonly onReady: (life: WorkerLife) => void;
  /** It does not get ready within `startDeadlineSeconds`. */
  readonly onLate: (life: WorkerLife) => void;
  /** The kernel has confirmed its end. */
  readonly onExit: (status: ExitStatus, life: WorkerLife) => void;
}

export function startLife(ports: CrewPorts, segment: Segment, start: LifeStart, hooks: LifeHooks): WorkerLife {
  const { worker } = start.planned.spec;
  const launched = ports.launchWorker(worker, segment);
  const { child } = launched;
  const cgroup = ports.cgroupOf(worker);
  if (cgroup !== null && child.pid !== null) cgroup.enter(child.pid);
  const oomBefore = cgroup?.oomKills() ?? 0;
  const ready: Deferred<void> = deferred();
  let fatal: EnvladderError | null = null;
  let isReady = false;
  const life: WorkerLife = {
    child,
    epoch: start.epoch,
    startedMs: monotonicMs(),
    ready: ready.promise,
    get isReady() {
      return isReady;
    },
    get fatal() {
      return fatal;
    },
    killed: null,
    oomKills: () => (cgroup?.oomKills() ?? 0) - oomBefore,
    send: child.channel.send,
  };
  const patience = startPatience(ports.options.plan.startDeadlineSeconds * 1000, () => hooks.onLate(life));
  child.channel.onMessage((message) => {
    if (message.type === 'ready') {
      patience.end();
      isReady = true;
      ready.resolve();
      hooks.onReady(life);
    } else if (message.type === 'fatal') fatal = childError(message.code, message.message, 'worker-died');
    else hooks.onMessage(message, life);
  });
  child.channel.send(workerStart(ports, launched, start));
  void child.exit.then((status) => {
    patience.end();
    if (!ready.settled) ready.reject(new Error(status.cause));
    hooks.onExit(status, life);
  });
  return life;
}
