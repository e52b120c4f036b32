// CLOCK_MONOTONIC in milliseconds: the same clock in every process of this machine, so that a child's stamp can be compared with ours.

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
