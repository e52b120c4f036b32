// The machine a figure was taken on, in the same words as a run record. The host's name goes in as a hash: enough to tell two machines
// apart, too little to name one.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cpus, hostname, release, totalmem } from 'node:os';
import type { MachineFacts } from '../contract/run-record.js';

/** PRETTY_NAME out of the text of /etc/os-release. */
export function parseOsName(osRelease: string): string {
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? 'Linux';
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

function libcName(): string {
  const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime === undefined ? 'musl or other' : `glibc ${report.header.glibcVersionRuntime}`;
}

/** Facts of this machine. */
export function readMachineFacts(): MachineFacts {
  const cores = cpus();
  return {
    hostname_hash: createHash('sha256').update(hostname()).digest('hex').slice(0, 12),
    cpu_model: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memory_bytes: totalmem(),
    kernel: release(),
    os: parseOsName(readOsRelease()),
    node: process.version,
    libc: libcName(),
  };
}
