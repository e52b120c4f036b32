// The names of the rig's concerns: one script each in infra/scripts, one component each in infra/components, one folder of before-values each
// on the host. Written here only; read by the program, the doctor and the tests.

/** In the order in which they are applied; destroy goes backwards. */
export const CONCERNS = [
  'host-ready',
  'base-system',
  'nvidia-driver',
  'reboot',
  'cuda-toolkit',
  'rig-slices',
  'redis-trio',
  'shm-janitor',
  'node-runtime',
  'envladder-release',
  'ladder-run',
] as const;

export type ConcernName = (typeof CONCERNS)[number];
