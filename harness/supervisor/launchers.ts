// Starts the executor of a seat: a process of its own, or a thread in the host process that the block plan put it into. Who asks sees no
// difference but in the numbers of the inherited fds.
import type { Control, ErrorTables, Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import type { Launched, WorkerChild } from './crew-ports.js';
import { CONTROL_CHILD_FD, ERRORS_CHILD_FD, FIRST_SEGMENT_FD, spawnChild } from './spawn.js';
import { createThreadHost, type ThreadHost } from './thread-seats.js';

export interface LauncherOptions {
  readonly planned: readonly PlannedSegment[];
  readonly control: Pick<Control, 'fd'>;
  readonly errors: Pick<ErrorTables, 'fd'>;
  /** The seat's segment at this moment. */
  readonly segmentOf: (worker: number) => Segment;
  readonly workerEntry: URL;
  readonly threadHostEntry: URL;
  /** How long a killed thread may take to end before its host is killed. */
  readonly graceMs: number;
}

export function createWorkerLauncher(options: LauncherOptions): (worker: number, segment: Segment) => Launched {
  const { planned, control, errors, segmentOf, graceMs } = options;
  const hosts = new Map<number, ThreadHost>();

  function hostOf({ host }: PlannedSegment): ThreadHost {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    const seats = planned.filter((each) => each.host === host && each.executor === 'thread').map(({ spec }) => spec.worker);
    const made = createThreadHost({
      entry: options.threadHostEntry,
      sharedFds: [control.fd, errors.fd],
      segmentFds: new Map(seats.map((seat) => [seat, () => segmentOf(seat).fd])),
      graceMs,
    });
    hosts.set(host, made);
    return made;
  }

  return (worker, segment) => {
    const seat = planned[worker];
    if (seat === undefined) throw new RangeError(`there is no seat ${worker}; the plan has ${planned.length}`);
    if (seat.executor === 'thread') {
      const host = hostOf(seat);
      return { child: host.spawn(worker), controlFd: CONTROL_CHILD_FD, errorsFd: ERRORS_CHILD_FD, segmentFd: host.segmentFd(worker) };
    }
    const child: WorkerChild = spawnChild(options.workerEntry, [control.fd, errors.fd, segment.fd]);
    return { child, controlFd: CONTROL_CHILD_FD, errorsFd: ERRORS_CHILD_FD, segmentFd: FIRST_SEGMENT_FD };
  };
}
