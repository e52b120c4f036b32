// Lifecycle events of a run: rows of events.sqlite. Emitted by the supervisor only; children report to it by message.

export const RUN_EVENT_TYPES = [
  'run-started',
  'run-stopped',
  'tier-started',
  'tier-live',
  'tier-ended',
  'env-created',
  'env-failed',
  'reset-failed',
  'env-quarantined',
  'worker-started',
  'worker-died',
  'worker-restarted',
  'worker-stopped',
  'worker-suspect',
  'worker-cleared',
  'worker-replaced',
  'worker-recovered',
  'range-lost',
  'env-rebuilt',
  'env-cooling',
  'env-released',
  'kills-suspended',
  'kills-resumed',
  'learner-restarted',
  'group-woken',
  'scheduling',
  'state-lost',
  'state-back',
  'command',
  'alarm',
  'alarm-cleared',
  'learner-started',
  'learner-died',
  'learner-stopped',
  'checkpoint',
  'interrupted',
  'warning',
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

export interface RunEvent {
  readonly type: RunEventType;
  /** Wall clock, for people. */
  readonly at: string;
  /** Milliseconds since the run began on the monotonic clock: the order that counts. */
  readonly runMs: number;
  readonly worker?: number;
  readonly envId?: number;
  readonly tier?: number;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}
