// Where a run's control socket is, in words the kernel takes: a socket's address has 107 bytes, and Node cuts a longer one off without a
// word. A folder whose path is longer is reached through a descriptor of it: /proc/self/fd/N/ctl.sock is the same file.
import { closeSync, constants, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CTL_SOCKET_NAME } from '../contract/ctl.js';

/** sizeof(sun_path) less the closing zero. */
export const MAX_SOCKET_PATH_BYTES = 107;
/** Longest name that is ever bound in the folder: ctl.sock under its name of birth. */
const LONGEST_NAME = `.ctl.${'9'.repeat(10)}.${'9'.repeat(6)}.tmp`;

export interface SocketFolder {
  /** The socket as a person knows it, absolute. */
  readonly path: string;
  /** An address for bind and connect; valid until `close`. */
  address(name: string): string;
  close(): void;
}

/** Throws what open(2) says of the folder. */
export function openSocketFolder(dir: string): SocketFolder {
  const folder = resolve(dir);
  const path = join(folder, CTL_SOCKET_NAME);
  if (Buffer.byteLength(join(folder, LONGEST_NAME)) <= MAX_SOCKET_PATH_BYTES) {
    return { path, address: (name) => join(folder, name), close: () => undefined };
  }
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path, address: (name) => `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) };
}
