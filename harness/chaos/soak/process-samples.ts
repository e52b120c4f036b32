// RSS and open fds of the processes of a run over hours, and what is made of them: a slope with its interval, and whether fds stay flat.
// Read from /proc by the soak itself, so that the run's own health report has something to be compared with. Bounded per process.
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessSample {
  /** Seconds since the soak began. */
  readonly atS: number;
  readonly rssBytes: number;
  readonly fds: number;
}

/** Hours at one sample in ten seconds; then every second one is dropped. */
const MOST_SAMPLES = 4096;
/** In its first minutes every process grows: code is compiled, heaps find their size. */
export const WARM_UP_S = 300;

export function sampleProcess(pid: number, atS: number): ProcessSample | null {
  try {
    const rss = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN);
    return Number.isNaN(rss) ? null : { atS, rssBytes: rss * 1024, fds: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return null;
  }
}

/** Adds a sample; thins the list when it is full, so that it still spans everything. */
export function keepSample(samples: ProcessSample[], sample: ProcessSample): void {
  samples.push(sample);
  if (samples.length <= MOST_SAMPLES) return;
  const thinned = samples.filter((_, i) => i % 2 === 0);
  samples.splice(0, samples.length, ...thinned);
}

export interface Growth {
  readonly samples: number;
  readonly seconds: number;
  /** Bytes per hour by least squares over what follows the warm-up, with the half width of its 95 % interval. Null: too short. */
  readonly slopeBytesPerHour: number | null;
  readonly slopeError: number | null;
  readonly fdsFirst: number;
  readonly fdsLast: number;
  readonly fdsMost: number;
}

/** Fewer say nothing about a slope. */
const LEAST_SAMPLES = 10;

/** Pure. `warmUpS`: seconds after the first sample that are left out. */
export function growthOf(samples: readonly ProcessSample[], warmUpS = WARM_UP_S): Growth {
  const first = samples[0];
  const last = samples.at(-1);
  const kept = samples.filter(({ atS }) => atS >= (first?.atS ?? 0) + warmUpS);
  const fds = samples.map((sample) => sample.fds);
  const base = {
    samples: samples.length,
    seconds: (last?.atS ?? 0) - (first?.atS ?? 0),
    fdsFirst: (kept[0] ?? first)?.fds ?? 0,
    fdsLast: last?.fds ?? 0,
    fdsMost: fds.length === 0 ? 0 : Math.max(...fds),
  };
  if (kept.length < LEAST_SAMPLES) return { ...base, slopeBytesPerHour: null, slopeError: null };
  const n = kept.length;
  const meanT = kept.reduce((sum, { atS }) => sum + atS, 0) / n;
  const meanY = kept.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / n;
  let tt = 0;
  let ty = 0;
  for (const { atS, rssBytes } of kept) {
    tt += (atS - meanT) ** 2;
    ty += (atS - meanT) * (rssBytes - meanY);
  }
  const slope = ty / tt;
  const residual = kept.reduce((sum, { atS, rssBytes }) => sum + (rssBytes - meanY - slope * (atS - meanT)) ** 2, 0);
  return { ...base, slopeBytesPerHour: slope * 3600, slopeError: 1.96 * Math.sqrt(residual / (n - 2) / tt) * 3600 };
}
