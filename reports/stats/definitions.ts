// What each figure counts, over which clock, by which denominator: printed beside the figures in every format, written once.

export const DEFINITIONS = {
  sampling:
    'sampling SPS = frames published / measured seconds (monotonic clock; from all environments live to the end of the tier; resets included, frame-skip not counted)',
  training: 'training SPS = transitions that went through an update / measured seconds',
  goodput: 'goodput = valid transitions trained or evaluated / measured seconds (resets and drops left out)',
  latency:
    'step latency = action stored by the learner to frame published by the worker, every frame of the measured time, nearest-rank percentiles of the tier\u2019s own histogram',
  rate: 'rate = steps per second and environment / those planned; response = from the time at which the step was meant to begin to frame published, so a stall counts for every step that it delayed; lag = how late steps were let go that could have been in time',
  fill: 'batch fill = frames per inference batch / largest batch',
  firstBatch: 'first batch = start of the tier to the first batch that held one of its new environments',
  allLive: 'all live = start of the tier to the last environment constructed, reset and published',
  memory:
    'memory = PSS by role from /proc/PID/smaps_rollup at the end of the tier; shared pages are split among the processes that map them, so roles add up',
  balance:
    'published includes frames carried in from the tier before (published earlier, accounted for here); every frame ends in exactly one term',
  returns:
    'return = undiscounted sum of rewards of an episode, mean over the last up to 100 episodes of the kind (curve) or over the tier\u2019s episodes (table)',
  phases: 'seconds the learner process spent in each phase / seconds of the tier, monotonic clock',
  load: 'CPU time over the measured time of the tier, of the CPUs this run may use; others = processes that are not of this run',
  timeline: 'differences of the published and trained counters between lines of metrics.ndjson / seconds between them',
} as const;
