// Holm's step-down correction: with many metrics tested at once, some look different by chance; adjusted p-values keep the chance of
// even one false alarm below alpha, whatever the metrics have to do with each other. Pure.

/** Adjusted p-values in the order of `ps`: compare them with alpha directly. */
export function holmAdjusted(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => (ps[a] as number) - (ps[b] as number));
  const adjusted = new Array<number>(ps.length).fill(1);
  let highest = 0;
  order.forEach((index, step) => {
    highest = Math.max(highest, Math.min(1, (ps.length - step) * (ps[index] as number)));
    adjusted[index] = highest;
  });
  return adjusted;
}
