// CPU numbers as the kernel and systemd write them ("0-3,8,10-11"), and back. Pure; used by sizing and by checks that compare what a
// host reports with what was asked.

/** Sorted, each once, runs of two or more as ranges. */
export function cpuList(cpus: readonly number[]): string {
  const sorted = [...new Set(cpus)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let index = 0; index < sorted.length; ) {
    let end = index;
    while (sorted[end + 1] === sorted[end]! + 1) end += 1;
    parts.push(end === index ? `${sorted[index]}` : `${sorted[index]}-${sorted[end]}`);
    index = end + 1;
  }
  return parts.join(',');
}

/** The numbers of such a list; empty text is no CPU. */
export function parseCpuList(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
