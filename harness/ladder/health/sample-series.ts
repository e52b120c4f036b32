// What one process said about itself over one life, in bounded memory: when full, neighbours are merged and from then on twice as many
// reports make a sample, so a second and a week both end in a few hundred. Written by the growth watch. Bounded by MOST_SAMPLES.

/** More points than a figure shows; a slope over six days does not get better with more. */
export const MOST_SAMPLES = 600;

export interface Sample {
  /** Run time in seconds. */
  readonly t: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly fds: number;
  /** Longest of those merged. */
  readonly lagMs: number;
  /** Reports in it. */
  readonly weight: number;
}

export interface SampleSeries {
  add(sample: Omit<Sample, 'weight'>): void;
  /** In order of time, the newest, unfinished one included. */
  samples(): readonly Sample[];
}

function merged(a: Sample, b: Sample): Sample {
  const weight = a.weight + b.weight;
  const mean = (of: (sample: Sample) => number) => (of(a) * a.weight + of(b) * b.weight) / weight;
  return {
    t: mean((sample) => sample.t),
    rssBytes: mean((sample) => sample.rssBytes),
    heapBytes: mean((sample) => sample.heapBytes),
    fds: mean((sample) => sample.fds),
    lagMs: Math.max(a.lagMs, b.lagMs),
    weight,
  };
}

export function createSampleSeries(limit = MOST_SAMPLES): SampleSeries {
  let kept: Sample[] = [];
  let open: Sample | null = null;
  let stride = 1;
  return {
    add(report) {
      const sample = { ...report, weight: 1 };
      open = open === null ? sample : merged(open, sample);
      if (open.weight < stride) return;
      kept.push(open);
      open = null;
      if (kept.length < limit) return;
      kept = Array.from({ length: limit >> 1 }, (_, i) => merged(kept[2 * i] as Sample, kept[2 * i + 1] as Sample));
      stride *= 2;
    },
    samples: () => (open === null ? kept : [...kept, open]),
  };
}
