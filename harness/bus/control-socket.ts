// The control socket of a run: ctl.sock in its folder, private to its user, where `envladder ctl` and tools command the supervisor. Written
// by strangers at worst: what is no command is refused, answered where possible and counted; nothing that comes in throws or piles up.
// A socket file that somebody removed is noticed and made anew.
import { chmodSync } from 'node:fs';
import type { Socket } from 'node:net';
import { EnvladderError } from '../contract/errors.js';
import { type BoundSocket, bindSocket } from './bind-socket.js';
import { answerLine, type ConnectionRefusal, serveConnection } from './control-connection.js';
import type { Obey } from './obey-once.js';
import { openSocketFolder } from './socket-address.js';

export const MAX_CONNECTIONS = 8;
const IDLE_MS = 60_000;
/** FAULTS 32: a removed socket file is noticed within 5 s. */
const LOOK_EVERY_MS = 2_000;

export type ControlRefusal = ConnectionRefusal | 'too-many-connections';
export type ControlCount = ControlRefusal | 'rebound' | 'rebind-failed';

export interface ControlSocketOptions {
  /** The run folder; its lock is held by this process. */
  readonly dir: string;
  /** Wrapped by `obeyOnce`. */
  readonly obey: Obey;
  /** Told of every refusal, and when the socket was removed and is there again (or could not be made again). Must not throw. */
  readonly onCount?: (what: ControlCount) => void;
  readonly idleMs?: number;
  readonly lookEveryMs?: number;
}

export interface ControlSocket {
  readonly path: string;
  refused(): Readonly<Partial<Record<ControlRefusal, number>>>;
  connections(): number;
  /** Takes the file away and hangs up. */
  close(): Promise<void>;
}

/** Rejects with `run-folder` when the folder cannot be made private or the socket belongs to a run that is alive. */
export async function openControlSocket(options: ControlSocketOptions): Promise<ControlSocket> {
  const { dir, obey, onCount, idleMs = IDLE_MS, lookEveryMs = LOOK_EVERY_MS } = options;
  makePrivate(dir);
  const folder = openSocketFolder(dir);
  const refused: Partial<Record<ControlRefusal, number>> = {};
  const sockets = new Set<Socket>();
  const refuse = (what: ControlRefusal): void => {
    refused[what] = (refused[what] ?? 0) + 1;
    onCount?.(what);
  };
  const connect = (socket: Socket): void => {
    if (sockets.size >= MAX_CONNECTIONS) {
      refuse('too-many-connections');
      socket.on('error', () => undefined);
      socket.end(answerLine({ id: '', ok: false, message: `there are ${MAX_CONNECTIONS} connections already` }), () => socket.destroy());
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serveConnection(socket, { obey, onRefusal: refuse, idleMs });
  };

  let bound: BoundSocket;
  try {
    bound = await bindSocket(folder, connect);
  } catch (error) {
    folder.close();
    throw error;
  }
  let closed = false;
  let looking = false;
  let saidFailed = false;
  const look = async (): Promise<void> => {
    if (looking || bound.inPlace()) return;
    looking = true;
    try {
      const again = await bindSocket(folder, connect);
      if (closed) again.close();
      else {
        bound.close();
        bound = again;
        saidFailed = false;
        onCount?.('rebound');
      }
    } catch {
      // Tried again at every look, said once.
      if (!saidFailed) onCount?.('rebind-failed');
      saidFailed = true;
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  return {
    path: folder.path,
    refused: () => ({ ...refused }),
    connections: () => sockets.size,
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      const over = new Promise<void>((done) => bound.server.once('close', () => done()));
      bound.close();
      for (const socket of sockets) socket.destroy();
      await over;
      folder.close();
    },
  };
}

function makePrivate(dir: string): void {
  try {
    chmodSync(dir, 0o700);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code;
    throw new EnvladderError(
      'run-folder',
      `run folder ${dir} cannot be made private (${errno}): a control socket needs a folder of its user's`,
      {
        cause,
        detail: { path: dir },
      },
    );
  }
}
