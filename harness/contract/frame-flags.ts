// Bits of the flags word that travels with every published frame (one frame = one env call: a step or a reset).
// The worker writes them, the learner reads them; their meaning for training stands beside each bit.

/** The episode ended in a terminal state: no bootstrap. */
export const TERMINATED = 1;
/** The episode was cut (time limit): bootstrap from V(final). May be set together with TERMINATED; then TERMINATED decides. */
export const TRUNCATED = 2;
/** The frame is a reset: it starts an episode and carries no transition, so it is never trained. */
export const FIRST = 4;
/** same-step autoreset: the `final` plane holds the ended episode's last observation, the frame itself the next episode's first. */
export const FINAL = 8;
/** The trajectory before this frame was lost (worker death, rebuild): it ends without being terminal and its open steps are dropped. */
export const ABANDONED = 16;
/** Last frame of this slot: its env is out of the run, no action is expected. */
export const QUARANTINED = 32;

/** Bits that end an episode. */
export const DONE = TERMINATED | TRUNCATED;

export const AUTORESET_MODES = ['next-step', 'same-step', 'disabled'] as const;
export type AutoresetMode = (typeof AUTORESET_MODES)[number];
