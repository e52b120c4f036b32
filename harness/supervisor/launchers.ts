// Starts the run's children: the learner, and the executor of a seat: a process of its own, or a thread in the host process that the block
// plan put it into. Who asks sees no difference but in the numbers of the inherited fds. Every new process is scheduled as the plan says.
import type { Control, ErrorTables } from '../memory/control.js';
import type { Segment } from '../memory/interface.js';
import type { PlannedSegment } from './block-plan.js';
import type { CrewPorts, LearnerChild, WorkerChild } from './crew-ports.js';
import type { Scheduling } from './scheduling.js';
import { CONTROL_CHILD_FD, ERRORS_CHILD_FD, entryUrl, FIRST_SEGMENT_FD, spawnChild } from './spawn.js';
import { createThreadHost, type ThreadHost } from './thread-seats.js';

export interface LauncherOptions {
  readonly planned: readonly PlannedSegment[];
  readonly control: Pick<Control, 'fd'>;
  readonly errors: Pick<ErrorTables, 'fd'>;
  /** The seat's segment at this moment. */
  readonly segmentOf: (worker: number) => Segment;
  readonly scheduling: Pick<Scheduling, 'apply'>;
  readonly workerEntry: URL | undefined;
  readonly learnerEntry: URL | undefined;
  readonly wrapWorker: ((child: WorkerChild, worker: number) => WorkerChild) | undefined;
  readonly wrapLearner: ((child: LearnerChild) => LearnerChild) | undefined;
}

/** A killed thread ends at its next JavaScript instruction; one in native code takes its host with it. */
const THREAD_GRACE_MS = 1000;

export function createLaunchers(options: LauncherOptions): Pick<CrewPorts, 'launchWorker' | 'launchLearner'> {
  const { planned, control, errors, segmentOf, scheduling, wrapWorker, wrapLearner } = options;
  const hosts = new Map<number, ThreadHost>();

  function hostOf({ host }: PlannedSegment): ThreadHost {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    const seats = planned.filter((each) => each.host === host && each.executor === 'thread').map(({ spec }) => spec.worker);
    const made = createThreadHost({
      entry: entryUrl('../worker/thread-host'),
      sharedFds: [control.fd, errors.fd],
      segmentFds: new Map(seats.map((seat) => [seat, () => segmentOf(seat).fd])),
      graceMs: THREAD_GRACE_MS,
    });
    hosts.set(host, made);
    return made;
  }

  function launch(worker: number, seat: PlannedSegment, segment: Segment): { child: WorkerChild; segmentFd: number } {
    if (seat.executor === 'thread') {
      const host = hostOf(seat);
      return { child: host.spawn(worker), segmentFd: host.segmentFd(worker) };
    }
    const fds = [control.fd, errors.fd, segment.fd];
    return { child: spawnChild(options.workerEntry ?? entryUrl('../worker/entry'), fds), segmentFd: FIRST_SEGMENT_FD };
  }

  return {
    launchWorker(worker, segment) {
      const seat = planned[worker];
      if (seat === undefined) throw new RangeError(`there is no seat ${worker}; the plan has ${planned.length}`);
      const { child, segmentFd } = launch(worker, seat, segment);
      if (child.pid !== null) scheduling.apply(seat.host, child.pid);
      return { child: wrapWorker?.(child, worker) ?? child, controlFd: CONTROL_CHILD_FD, errorsFd: ERRORS_CHILD_FD, segmentFd };
    },
    launchLearner(segments) {
      const fds = [control.fd, errors.fd, ...segments.map(({ fd }) => fd)];
      const child: LearnerChild = spawnChild(options.learnerEntry ?? entryUrl('../learner/entry'), fds);
      if (child.pid !== null) scheduling.apply('learner', child.pid);
      return wrapLearner?.(child) ?? child;
    },
  };
}
