// Running mean and deviation of many streams of numbers, one place each. Pure. Welford 1962, "Note on a method for calculating corrected sums
// of squares and products": no catastrophic cancellation however long the run.

/** Numbers kept per place: how many, mean, sum of squared deviations. */
export const MOMENT_COLUMNS = 3;

export interface Moments {
  readonly count: number;
  /** Appends empty places. */
  grow(places: number): void;
  add(place: number, value: number): void;
  mean(place: number): number;
  /** Population deviation; 0 before the second number. */
  deviation(place: number): number;
  save(place: number, into: Float32Array, at: number): void;
  load(place: number, from: Float32Array, at: number): void;
}

export function createMoments(): Moments {
  let numbers = new Float64Array(0);
  return {
    get count() {
      return numbers.length / MOMENT_COLUMNS;
    },
    grow(places) {
      const bigger = new Float64Array(numbers.length + places * MOMENT_COLUMNS);
      bigger.set(numbers);
      numbers = bigger;
    },
    add(place, value) {
      const at = place * MOMENT_COLUMNS;
      const seen = (numbers[at] as number) + 1;
      const before = value - (numbers[at + 1] as number);
      const mean = (numbers[at + 1] as number) + before / seen;
      numbers[at] = seen;
      numbers[at + 1] = mean;
      numbers[at + 2] = (numbers[at + 2] as number) + before * (value - mean);
    },
    mean: (place) => numbers[place * MOMENT_COLUMNS + 1] as number,
    deviation(place) {
      const seen = numbers[place * MOMENT_COLUMNS] as number;
      return seen < 2 ? 0 : Math.sqrt((numbers[place * MOMENT_COLUMNS + 2] as number) / seen);
    },
    save(place, into, at) {
      for (let c = 0; c < MOMENT_COLUMNS; c++) into[at + c] = numbers[place * MOMENT_COLUMNS + c] as number;
    },
    load(place, from, at) {
      for (let c = 0; c < MOMENT_COLUMNS; c++) numbers[place * MOMENT_COLUMNS + c] = from[at + c] as number;
    },
  };
}
