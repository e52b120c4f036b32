// Upper bounds of everything countable, in one place: a value beyond them is refused with the bound in the message.

/** Envs of one run. The P word has room for far more; this bounds planning arithmetic and the control words (128 B each). */
export const MAX_ENVS = 1_000_000;
export const MAX_WORKERS = 256;
/** Ring depth: horizon + 1 for a learner that trains straight from the ring. */
export const MAX_CELLS = 256;
/** Largest single plane in bytes: Node 20 refuses ArrayBuffers over 4 GiB; half of it leaves room for 32-bit element indices. */
export const MAX_PLANE_BYTES = 2 ** 31;
/** Lifecycle events waiting for the writer thread before the oldest kind of loss, a counted drop, sets in. */
export const MAX_QUEUED_EVENTS = 20_000;
/** Bytes of a dead child's stderr kept in the record. */
export const MAX_STDERR_TAIL_BYTES = 8_192;
/** Objectives of a plan, or of one of its tiers: each is judged four times a second while it can abort. */
export const MAX_SLOS = 64;
/** Share of CPU time taken by the hypervisor above which a tier is warned about: 2 % is beyond what a quiet virtual machine shows. */
export const STEAL_WARN_SHARE = 0.02;
/** Share of CPU time used by others above which a tier is warned about: daemons of an idle server stay below 2 %. */
export const FOREIGN_WARN_SHARE = 0.05;
/** Above these a tier is invalid unless the plan says otherwise (`quiet`). Generous on purpose: they refuse a machine that was hardly ours at all. */
export const STEAL_LIMIT_SHARE = 0.5;
export const FOREIGN_LIMIT_SHARE = 0.95;
