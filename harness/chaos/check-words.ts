// Words that the checking learner and the rig agree on: how counts and violations travel inside ordinary messages.

/** Key in a snapshot's losses that holds {frames, cells, violations}. */
export const CHECK_LOSSES = 'chaos-check';
/** Beginning of a warning that is a violation. */
export const CHECK_WARNING = 'frame check: ';
export const PACE_VARIABLE = 'ENVLADDER_CHAOS_PACE_MS';
