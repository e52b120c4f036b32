// What a learner makes of signals that are not the supervisor's word. SIGTERM asks it to end: it writes a checkpoint and goes. Ctrl-C, a
// closing terminal and broken pipes are its supervisor's business. SIGUSR1 must not open Node's inspector on a port, as it does unheard.

export interface Signals {
  /** Whether SIGTERM has come. */
  readonly terminated: () => boolean;
}

/** Call as early as possible: until then Node's own handlers are in force. */
export function listenToSignals(): Signals {
  let terminated = false;
  process.on('SIGTERM', () => {
    terminated = true;
  });
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => undefined);
  return { terminated: () => terminated };
}
