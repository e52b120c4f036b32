// Process exit codes of every envladder command. One place, so that no wrapper remaps them.

export const EXIT = {
  good: 0,
  bug: 1,
  usage: 2,
  preflight: 3,
  invalid: 4,
  slo: 5,
  regression: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
