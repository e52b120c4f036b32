// A small disk: a tmpfs, mounted by a process that unmounts it when it is told to, and when we are gone: its stdin closes then. Not in a mount
// namespace of its own, for what a run wrote there has to be read from here, and SQLite takes no path through /proc/<pid>/root.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { commandProblem } from './machine-needs.js';

const CHUNK = Buffer.alloc(65_536);

export interface SmallDisk {
  readonly dir: string;
  /** Takes all the room there is now. Again: also what was given back since. */
  fill(): void;
  free(): void;
  remove(): Promise<void>;
}

/** Why there can be none here, or null. */
export function smallDiskProblem(): string | null {
  return commandProblem('unshare', ['-m', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', '/mnt']);
}

/** `place` is created as the mount point. */
export async function mountSmallDisk(place: string, mebibytes: number): Promise<SmallDisk> {
  mkdirSync(place, { recursive: true });
  const script = `trap '' INT TERM HUP; mount -t tmpfs -o "size=$1m" none "$2" && echo mounted && read -r _; umount -l "$2"`;
  // A session of its own: Ctrl-C is not for it.
  const child = spawn('sh', ['-c', script, 'sh', String(mebibytes), place], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  let words = '';
  child.stderr.on('data', (data: Buffer) => (words += data.toString()));
  const mounted = await Promise.race([
    new Promise<boolean>((done) => child.stdout.once('data', () => done(true))),
    ended.then(() => false),
  ]);
  if (!mounted) throw new Error(`no small disk at ${place}: ${words.slice(-300)}`);
  const ballasts: string[] = [];
  return {
    dir: place,
    fill() {
      const ballast = join(place, `ballast-${ballasts.length}`);
      ballasts.push(ballast);
      const fd = openSync(ballast, 'wx');
      try {
        for (let bytes = CHUNK.length; bytes > 0; ) {
          try {
            writeSync(fd, CHUNK, 0, bytes);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            bytes = Math.floor(bytes / 16);
          }
        }
      } finally {
        closeSync(fd);
      }
    },
    free() {
      for (const ballast of ballasts.splice(0)) rmSync(ballast, { force: true });
    },
    remove() {
      child.stdin.end();
      return ended;
    },
  };
}
