// How much of what crosses the env contract is checked: every frame, one in 64, or only what is free.

export const CHECK_LEVELS = ['full', 'sampled', 'off'] as const;
export type CheckLevel = (typeof CHECK_LEVELS)[number];
