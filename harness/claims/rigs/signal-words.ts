// What leader and members of a group that is beaten by signals say to each other, and who its members are. Pure.

/** `spins`: its step never returns and its event loop stands. `waits`: its step waits for something that never comes, and the loop turns. */
export const MEMBERS = ['steps', 'spins', 'waits'] as const;
export type Member = (typeof MEMBERS)[number];
/** Where the control page is inherited. */
export const MEMBER_CONTROL_FD = 4;

export interface GroupOrder {
  readonly watch: 'sigusr1' | 'progress';
  readonly beatMs: number;
  /** A worker that gave no sign for so long is noticed. */
  readonly deadlineMs: number;
  readonly lookMs: number;
}

export interface GroupAnswer {
  /** Milliseconds from the beginning until a worker was noticed; missing: it never was. */
  readonly noticedMs: Readonly<Partial<Record<Member, number>>>;
  /** Helpers that a signal ended. */
  readonly killed: number;
  readonly inspectors: number;
  /** Heartbeats sent to the group. */
  readonly beats: number;
}
