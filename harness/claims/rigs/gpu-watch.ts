// How busy the GPUs of this machine are, by nvidia-smi: the part of its last sampling interval in which a kernel ran. One child process for the
// whole watch; ended by `stop`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const INTERVAL_MS = 500;
const PROBE_MS = 10_000;

/** Why GPUs cannot be watched here, or null. */
export function gpuProblem(command = 'nvidia-smi'): string | null {
  const probe = spawnSync(command, ['--query-gpu=name', '--format=csv,noheader'], { encoding: 'utf8', timeout: PROBE_MS });
  if (probe.error !== undefined) return 'no GPU that can be watched: nvidia-smi is not there';
  return probe.status === 0 && probe.stdout.trim() !== '' ? null : `no GPU that can be watched: nvidia-smi ended with ${probe.status}`;
}

export interface GpuWatch {
  /** Busy per cent of every reading so far, over all GPUs. */
  readonly readings: readonly number[];
  readonly stop: () => Promise<void>;
}

/** Lines of "57" or "57, 80"; anything else ("[N/A]") is no reading. */
export function parseBusy(line: string): number | null {
  const value = Number(line.split(',')[0]?.trim());
  return line.trim() !== '' && Number.isFinite(value) && value >= 0 && value <= 100 ? value : null;
}

export function watchGpu(command = 'nvidia-smi'): GpuWatch {
  const args = ['--query-gpu=utilization.gpu', '--format=csv,noheader,nounits', `--loop-ms=${INTERVAL_MS}`];
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).catch(() => undefined);
  const readings: number[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const busy = parseBusy(line);
      if (busy !== null) readings.push(busy);
    }
  });
  return {
    readings,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
