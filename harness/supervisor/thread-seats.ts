// Seats that are threads of one host process: to the supervisor each looks like a worker process of its own. The host is forked with the
// fds of all its seats when it gets its first thread, and is let go with its last one. A thread that is killed and not confirmed dead
// within the grace takes the host, and with it all its seats, along.
import type { Channel } from '../bus/channel.js';
import { createInbox, type Inbox } from '../bus/inbox.js';
import type { FromWorker, ToWorker } from '../contract/messages.js';
import type { FromThreadHost, ToThreadHost } from '../contract/thread-messages.js';
import { type Child, type ExitStatus, FIRST_SEGMENT_FD, spawnChild } from './spawn.js';

export interface ThreadHostOptions {
  readonly entry: URL;
  /** Control page and error tables, which all seats share. */
  readonly sharedFds: readonly [number, number];
  /** Each seat's segment, read at every fork of the host: a replaced segment has another fd. */
  readonly segmentFds: ReadonlyMap<number, () => number>;
  /** How long a killed thread may take to end before the host is killed. */
  readonly graceMs: number;
  /** Forks the host; tests replace it. */
  readonly fork?: typeof spawnChild<ToThreadHost, FromThreadHost>;
}

export interface ThreadHost {
  /** Starts the seat's thread. The seat's thread before it must be gone. */
  spawn(seat: number): Child<ToWorker, FromWorker>;
  /** Number of the seat's segment fd inside the host, for its `start` message; the shared ones are as in any child. */
  segmentFd(seat: number): number;
  /** The host process, null while there is none. */
  readonly pid: number | null;
}

interface Thread {
  readonly seat: number;
  readonly inbox: Inbox<FromWorker>;
  /** Resolves `exit` and closes the channel; the first call counts. */
  end(status: ExitStatus): void;
}

interface Host {
  readonly child: Child<ToThreadHost, FromThreadHost>;
  readonly threads: Map<number, Thread>;
  /** Why we killed it, for the seats that had no part in it. */
  killedFor: string | null;
  /** Its last thread has ended and it is let go: what tells of that thread's end once the process is gone too. */
  last: (() => void) | null;
}

/** The host of the seats in `segmentFds`. Nothing runs before the first `spawn`. */
export function createThreadHost(options: ThreadHostOptions): ThreadHost {
  const { entry, sharedFds, segmentFds, graceMs } = options;
  const seats = [...segmentFds.keys()];
  let host: Host | null = null;

  function hear(from: Host, message: FromThreadHost): void {
    const thread = from.threads.get(message.seat);
    if (thread === undefined) return;
    if (message.type === 'message') {
      thread.inbox.deliver(message.message);
      return;
    }
    from.threads.delete(message.seat);
    const killed = message.cause === 'killed';
    const end = (): void =>
      thread.end({
        code: killed ? null : message.code,
        signal: killed ? 'SIGKILL' : null,
        cause: killed ? 'SIGKILL' : message.cause,
        outputTail: message.outputTail,
      });
    if (from.threads.size > 0) {
      end();
      return;
    }
    from.last = end;
    from.child.channel.close();
    const grace = setTimeout(() => from.child.kill('SIGKILL'), graceMs);
    void from.child.exit.then(() => clearTimeout(grace));
  }

  function raise(): Host {
    const fds = [...sharedFds, ...seats.map((seat) => (segmentFds.get(seat) as () => number)())];
    const child = (options.fork ?? spawnChild<ToThreadHost, FromThreadHost>)(entry, fds);
    const raised: Host = { child, threads: new Map(), killedFor: null, last: null };
    child.channel.onMessage((message) => hear(raised, message));
    child.channel.send({ type: 'host', parentPid: process.pid });
    void child.exit.then((status) => {
      if (host === raised) host = null;
      raised.last?.();
      const cause = raised.killedFor ?? `thread host: ${status.cause}`;
      for (const thread of raised.threads.values()) thread.end({ ...status, cause });
      raised.threads.clear();
    });
    return raised;
  }

  function spawn(seat: number): Child<ToWorker, FromWorker> {
    if (!segmentFds.has(seat)) throw new RangeError(`seat ${seat} is not one of this thread host (${seats.join(', ')})`);
    if (host === null || !host.child.alive || host.killedFor !== null || host.last !== null) host = raise();
    const mine = host;
    if (mine.threads.has(seat)) throw new Error(`seat ${seat}: its thread before this one is not gone yet`);
    const inbox = createInbox<FromWorker>();
    let alive = true;
    let dropped = 0;
    let finish: (status: ExitStatus) => void;
    const exit = new Promise<ExitStatus>((resolve) => {
      finish = resolve;
    });
    mine.threads.set(seat, {
      seat,
      inbox,
      end(status) {
        alive = false;
        clearTimeout(grace);
        inbox.close();
        finish(status);
      },
    });
    let grace: NodeJS.Timeout | undefined;
    const { channel } = mine.child;
    channel.send({ type: 'spawn', seat });
    const port: Channel<ToWorker, FromWorker> = {
      get open() {
        return alive && channel.open;
      },
      get dropped() {
        return dropped;
      },
      send(message) {
        if (alive) channel.send({ type: 'message', seat, message });
        else dropped++;
      },
      onMessage: inbox.onMessage,
      onClose: inbox.onClose,
      drained: () => channel.drained(),
      close: inbox.close,
    };
    return {
      pid: mine.child.pid,
      channel: port,
      exit,
      get alive() {
        return alive;
      },
      outputTail: () => mine.child.outputTail(),
      kill(signal) {
        if (!alive) return;
        if (signal === 'SIGTERM') channel.send({ type: 'terminate', seat });
        else if (signal === 'SIGKILL') {
          channel.send({ type: 'kill', seat });
          grace ??= setTimeout(() => {
            if (!alive) return;
            mine.killedFor = `its thread host was killed: thread ${seat} did not end within ${graceMs} ms of its kill`;
            mine.child.kill('SIGKILL');
          }, graceMs);
        }
        // Other signals have no meaning for one thread: the process as a whole gets them.
        else mine.child.kill(signal);
      },
    };
  }

  return {
    spawn,
    segmentFd(seat) {
      const index = seats.indexOf(seat);
      if (index < 0) throw new RangeError(`seat ${seat} is not one of this thread host (${seats.join(', ')})`);
      return FIRST_SEGMENT_FD + index;
    },
    get pid() {
      return host?.child.alive === true ? host.child.pid : null;
    },
  };
}
