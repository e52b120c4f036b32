// Where axes get their marks. Plot's own choice is decimal; latencies, bytes and clock time want steps of their own, and tiers want to be
// marked where they are. Pure.

/** 1-2-5 marks inside [low, high], fewer per decade when the range is wide. Both positive. */
export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps = decades > 3.2 ? [1] : decades > 1.4 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const tick = Number((step * 10 ** power).toPrecision(6));
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** 0, step, 2 step... up to at least `high`, in about `count` steps of 1, 2 or 5 times a power of ten of `unit`. */
export function linearTicks(high: number, count = 5, unit = 1): number[] {
  const rough = Math.max(high, Number.EPSILON * 1e6) / unit / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.999) ?? 10 * power;
  const ticks: number[] = [];
  for (let i = 0; ticks.length < 2 || (ticks.at(-1) ?? 0) < high * 0.999; i++) ticks.push(Number((i * step).toPrecision(12)) * unit);
  return ticks;
}

/** As `linearTicks`, in round KiB, MiB or GiB. */
export function byteTicks(high: number, count = 5): number[] {
  const unit = [2 ** 40, 2 ** 30, 2 ** 20, 2 ** 10].find((size) => high >= size) ?? 1;
  return linearTicks(high, count, unit);
}

const TIME_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800, 345_600];

/** 0, step, 2 step... inside [0, high] seconds, steps of the clock. */
export function timeTicks(high: number, count = 5): number[] {
  if (high <= count) return linearTicks(high, count).filter((tick) => tick <= high * 1.001);
  const step = TIME_STEPS.find((candidate) => high / candidate <= count) ?? 864_000;
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

/** Time of a tick: "0", "50 ms", "20 s", "5 min", "1 h 30", "2 d". */
export function formatTimeTick(seconds: number): string {
  if (seconds === 0) return '0';
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds < 3_600) return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  return seconds % 3_600 === 0 ? `${seconds / 3_600} h` : `${Math.floor(seconds / 3_600)} h ${(seconds % 3_600) / 60}`;
}

/** Those of `positions` (rising pixels) that stand at least `gap` apart, the last one always among them: their indices. */
export function spacedIndices(positions: readonly number[], gap: number): number[] {
  const kept: number[] = [];
  for (let i = positions.length - 1; i >= 0; i--) {
    const next = kept[0];
    if (next === undefined || (positions[next] ?? 0) - (positions[i] ?? 0) >= gap) kept.unshift(i);
  }
  return kept;
}
