// A real file system that is really full: a tmpfs of a given size, mounted for one test. Needs root and mount(8); without them, a reason.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface TinyDisk {
  readonly dir: string;
  /** Takes all free space. */
  fill(): void;
  /** Gives it back. */
  free(): void;
}

/** Undefined after having skipped the test with the reason. */
export function mountTinyDisk(t: TestContext, kib: number, options = ''): TinyDisk | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'envladder-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k${options}`, 'tmpfs', dir], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(dir);
    t.skip(`SKIPPED(no tmpfs can be mounted here: ${String((error as Error).message).split('\n')[0]})`);
    return undefined;
  }
  t.after(() => {
    execFileSync('umount', ['-l', dir]);
    rmdirSync(dir);
  });
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill() {
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(ballast, { force: true }),
  };
}
