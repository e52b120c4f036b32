// The percentile spectrum of a histogram: latency against "one in how many", the only scale on which a tail can be read. Pure.
import { sampleCount, type ValueCounts, valuesAt } from '../../harness/contract/latency.js';

export interface SpectrumPoint {
  /** 1 / (1 - share): 2 is the median, 100 is p99. */
  readonly oneIn: number;
  readonly valueUs: number;
}

/** Points per factor of ten on the axis. */
const POINTS_PER_DECADE = 12;

/** Where a spectrum begins: one frame in ten is faster. The fastest frames of all say nothing. */
export const SPECTRUM_FROM = 1 / 0.9;

/** From the 10th percentile to the last that ten samples stand behind; beyond it a single frame would draw the curve. */
export function spectrumOf(pairs: ValueCounts): SpectrumPoint[] {
  const samples = sampleCount(pairs);
  if (samples === 0) return [];
  const decades = Math.log10(Math.max(10, samples / 10));
  const count = Math.max(1, Math.floor(decades * POINTS_PER_DECADE));
  const oneIns = Array.from({ length: count + 1 }, (_, i) => SPECTRUM_FROM * (10 ** decades / SPECTRUM_FROM) ** (i / count));
  const values = valuesAt(
    pairs,
    oneIns.map((oneIn) => 1 - 1 / oneIn),
  );
  // A bucket spans several points: only its last one is drawn, else the curve shows the histogram's steps instead of the latency.
  return oneIns.map((oneIn, i) => ({ oneIn, valueUs: values[i] ?? 0 })).filter((_, i) => i === 0 || values[i] !== values[i + 1]);
}

/** Axis marks up to `oneIn`: 50 %, 90 %, 99 %, 99.9 %... as [position, text]. */
export function spectrumTicks(maxOneIn: number): readonly (readonly [number, string])[] {
  const ticks: (readonly [number, string])[] = [[2, '50 %']];
  for (let nines = 1; 10 ** nines <= maxOneIn * 1.001; nines++) {
    ticks.push([10 ** nines, nines === 1 ? '90 %' : `99${nines > 2 ? `.${'9'.repeat(nines - 2)}` : ''} %`]);
  }
  return ticks;
}
