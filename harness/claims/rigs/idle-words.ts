// What a client with an idle connection to Redis is asked and answers (idle-client.ts). Pure.

/** `bare`: a plain connection. `keepalive`: the same with TCP keepalive. `client`: this project's client with its time-outs, asking each second. */
export type IdleSide = 'bare' | 'keepalive' | 'client';

export type IdleOrder =
  | { readonly do: 'open'; readonly side: IdleSide; readonly host: string; readonly keepAliveMs: number; readonly connections: number }
  /** Asks something on connection 0 and says whether it was answered there in time. */
  | { readonly do: 'ask'; readonly limitMs: number }
  /** Watches connection 1 in silence and asks on connection 2: says when each was known to be dead. */
  | { readonly do: 'watch'; readonly limitMs: number };

export type IdleAnswer =
  | { readonly opened: readonly number[] }
  | { readonly alive: boolean }
  | { readonly idleMs: number; readonly busyMs: number };
