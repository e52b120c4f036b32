// Memory of the run's processes by role, as PSS: shared pages are split among those who map them, so the sum is what the run costs.
// Read from /proc/<pid>/smaps_rollup, which walks page tables (milliseconds per mapped gigabyte): at tier ends and every few seconds.
import { readFileSync } from 'node:fs';
import type { RoleMemory } from './crew.js';

/** PSS of one process in bytes; 0 when it is gone or not ours to read. */
export function readPssBytes(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const kib = /^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1];
    return kib === undefined ? 0 : Number(kib) * 1024;
  } catch {
    return 0;
  }
}

/** Sums the pids of each role; `null` pids (children that are gone) are left out. */
export function readRoleMemory(roles: Readonly<Record<string, readonly (number | null)[]>>): Record<string, RoleMemory> {
  const memory: Record<string, RoleMemory> = {};
  for (const [role, pids] of Object.entries(roles)) {
    // Seats that are threads share their host's pid.
    const readings = [...new Set(pids)].filter((pid) => pid !== null).map(readPssBytes);
    const found = readings.filter((bytes) => bytes > 0);
    memory[role] = { pssBytes: found.reduce((sum, bytes) => sum + bytes, 0), processes: found.length };
  }
  return memory;
}
