// Builds the disk that fails on demand (native/chaos/failing-io.cc) and says how to put it under a process. Built once per process, into a
// temporary folder that goes with it; used by rows of the fault matrix and by tests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../ladder/package-root.js';
import { commandProblem } from './machine-needs.js';

const SOURCE = join(packageRoot(), 'native', 'chaos', 'failing-io.cc');
const COMPILER = process.env.CXX ?? 'g++';

export const IO_FAULTS = ['kill', 'torn', 'eio', 'enospc', 'short'] as const;
export type IoFault = (typeof IO_FAULTS)[number];

export interface FailingIo {
  /** Calls on paths that begin with it count. */
  readonly prefix: string;
  /** The call that goes wrong, from 1. */
  readonly at: number;
  readonly fault: IoFault | 'hold' | 'slow';
  /** Created when it goes wrong. */
  readonly fired: string;
  /** With `hold`: calls wait while this file exists. With `slow`: writes and fsyncs take longer while it does. */
  readonly hold?: string;
  /** With `slow`: how much longer. */
  readonly sleepMs?: number;
}

/** Why it cannot be built here, or null. */
export function failingIoProblem(): string | null {
  return commandProblem(COMPILER, ['--version']) === null ? null : `no C++ compiler: ${COMPILER} is not on PATH`;
}

let built: string | undefined;

/** Path of the library; throws the compiler's words when it does not compile. */
function library(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'envladder-io-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'failing-io.so');
  const run = spawnSync(COMPILER, ['-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl'], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`failing-io.cc does not build with ${COMPILER}: ${run.error?.message ?? run.stderr}`);
  built = path;
  return path;
}

/** Environment of a process whose disk is to fail so. */
export function failingIoEnv({ prefix, at, fault, fired, hold = '', sleepMs = 0 }: FailingIo): Record<string, string> {
  return {
    LD_PRELOAD: library(),
    // Node's own choice today; with io_uring the calls would go past libc.
    UV_USE_IO_URING: '0',
    FAILING_IO_PREFIX: prefix,
    FAILING_IO_AT: String(at),
    FAILING_IO_MODE: fault,
    FAILING_IO_FIRED: fired,
    FAILING_IO_HOLD: hold,
    FAILING_IO_SLEEP_MS: String(sleepMs),
  };
}
