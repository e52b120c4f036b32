// Binds a run's control socket without ever taking a live one's place. The socket is born under a name of its own, made private, and then
// linked to its real name, which fails where that exists: unlike bind after unlink, two starts cannot both win. What a dead run left
// behind is removed; only the holder of the run folder's lock may call this, so nobody else is doing the same.
import { chmodSync, linkSync, lstatSync, type Stats, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { CTL_SOCKET_NAME } from '../contract/ctl.js';
import { EnvladderError } from '../contract/errors.js';
import type { SocketFolder } from './socket-address.js';

export interface BoundSocket {
  readonly server: Server;
  /** Whether the file at the path is this socket. False: it was removed or replaced. */
  inPlace(): boolean;
  /** No new connections; takes the file away if it is this socket's. */
  close(): void;
}

const PROBE_MS = 1_000;

let births = 0;

/** Rejects with `run-folder` when the path is taken by something alive, by something that is no socket, or cannot be written. */
export async function bindSocket(folder: SocketFolder, onConnection: (socket: Socket) => void): Promise<BoundSocket> {
  const { path } = folder;
  await removeDead(folder);
  const birthName = `.ctl.${process.pid}.${births++ % 1_000_000}.tmp`;
  const birth = folder.address(birthName);
  // Half-open: `echo '{...}' | socat - UNIX:ctl.sock` ends its side before it has its answer.
  const server = createServer({ allowHalfOpen: true }, onConnection);
  const born = await new Promise<Stats>((done, fail) => {
    server.once('error', (cause: NodeJS.ErrnoException) => fail(refuse(path, `cannot be bound (${cause.code})`, cause)));
    server.listen(birth, () => {
      try {
        chmodSync(birth, 0o600);
        linkSync(birth, path);
        done(lstatSync(path));
      } catch (cause) {
        fail(refuse(path, `cannot be put in its place (${(cause as NodeJS.ErrnoException).code})`, cause));
      } finally {
        removeQuietly(birth);
      }
    });
  }).catch((error: unknown) => {
    server.close();
    throw error;
  });
  // Running out of descriptors while accepting is no reason to end.
  server.on('error', () => undefined);
  const inPlace = (): boolean => {
    try {
      const now = lstatSync(path, { throwIfNoEntry: false });
      return now !== undefined && now.ino === born.ino && now.dev === born.dev;
    } catch {
      // A disk that cannot answer (EIO, EACCES) is no proof that the file is gone.
      return true;
    }
  };
  return {
    server,
    inPlace,
    close() {
      if (inPlace()) removeQuietly(path);
      server.close();
    },
  };
}

async function removeDead(folder: SocketFolder): Promise<void> {
  const { path } = folder;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw refuse(path, 'is there and is no socket');
  const errno = await probe(folder.address(CTL_SOCKET_NAME));
  if (errno === 'ENOENT') return;
  if (errno !== 'ECONNREFUSED') throw refuse(path, `belongs to a run that is alive${errno === null ? '' : ` (${errno})`}`);
  removeQuietly(path);
}

/** Null: somebody listens there, even if frozen. Else the reason why not. */
function probe(address: string): Promise<string | null> {
  return new Promise((done) => {
    const socket = createConnection(address);
    const end = (errno: string | null): void => {
      socket.destroy();
      done(errno);
    };
    socket.setTimeout(PROBE_MS, () => end('ETIMEDOUT'));
    socket.once('connect', () => end(null));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'unknown'));
  });
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}

function refuse(path: string, why: string, cause?: unknown): EnvladderError {
  return new EnvladderError('run-folder', `control socket ${path} ${why}: look what uses ${dirname(path)}`, {
    ...(cause === undefined ? {} : { cause }),
    detail: { path },
  });
}
