// Builds the disk that fails on demand (failing-io.cc) and says how to put it under a process. Built once per test process, into the
// temporary folder of the test run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./failing-io.cc', import.meta.url));

export const IO_FAULTS = ['kill', 'torn', 'eio', 'enospc', 'short'] as const;
export type IoFault = (typeof IO_FAULTS)[number];

export interface FailingIo {
  /** Calls on paths that begin with it count. */
  readonly prefix: string;
  /** The call that goes wrong, from 1. */
  readonly at: number;
  readonly fault: IoFault | 'hold';
  /** Created when it goes wrong. */
  readonly fired: string;
  /** With `hold`: calls wait while this file exists. */
  readonly hold?: string;
}

let built: string | undefined;

/** Path of the library; throws the compiler's words when it does not compile. */
function library(): string {
  if (built !== undefined) return built;
  const path = join(mkdtempSync(join(tmpdir(), 'envladder-io-')), 'failing-io.so');
  const compiler = process.env.CXX ?? 'g++';
  const run = spawnSync(compiler, ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl'], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`failing-io.cc does not build with ${compiler}: ${run.error?.message ?? run.stderr}`);
  built = path;
  return path;
}

/** Environment of a process whose disk is to fail so. */
export function failingIoEnv({ prefix, at, fault, fired, hold = '' }: FailingIo): Record<string, string> {
  return {
    LD_PRELOAD: library(),
    // Node's own choice today; with io_uring the calls would go past libc.
    UV_USE_IO_URING: '0',
    FAILING_IO_PREFIX: prefix,
    FAILING_IO_AT: String(at),
    FAILING_IO_MODE: fault,
    FAILING_IO_FIRED: fired,
    FAILING_IO_HOLD: hold,
  };
}
