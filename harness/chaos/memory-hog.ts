// A process in a cgroup of its own that takes most of what memory the machine has left: pressure from a neighbour. For throw-away machines
// only. Bounded by its group's memory.max, and killed as a whole by its end.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.js';

/** Share of the available memory that the group may take: past it the kernel reclaims and, if need be, kills inside the group. */
const SHARE = 0.95;

export interface MemoryHog {
  /** Bytes that its group holds now. */
  held(): number;
  end(): Promise<void>;
}

function availableBytes(): number {
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * 1024;
}

/** `parent`: a cgroup v2 folder that hands the memory controller down. */
export function startMemoryHog(parent: string): MemoryHog {
  const group = join(parent, `envladder-chaos-hog-${process.pid}`);
  const bytes = Math.floor(availableBytes() * SHARE);
  mkdirSync(group);
  writeFileSync(join(group, 'memory.max'), String(bytes));
  const program = `const kept = []; let left = ${bytes};
    (function more() { if (left <= 0) return setInterval(() => kept.forEach((b) => b.fill(1)), 500); kept.push(Buffer.alloc(16 * 2 ** 20, 1)); left -= 16 * 2 ** 20; setImmediate(more); })();`;
  const child: ChildProcess = spawn('sh', ['-c', `echo $$ > ${group}/cgroup.procs && exec "$0" -e "$1"`, process.execPath, program], {
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    held: () => Number(readFileSync(join(group, 'memory.current'), 'utf8')),
    async end() {
      child.kill('SIGKILL');
      await gone;
      // The kernel takes a moment to empty a group.
      await until(() => !existsSync(join(group, 'cgroup.procs')) || readFileSync(join(group, 'cgroup.procs'), 'utf8').trim() === '', 5000);
      rmdirSync(group);
    },
  };
}
