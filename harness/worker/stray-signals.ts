// What a signal means to a process that runs workers: SIGTERM asks it to end, the others that reach it by accident mean nothing. Loaded
// before everything else of the process; until then (Node's own start, some tens of milliseconds) SIGTERM, SIGINT and SIGHUP end it, and
// SIGUSR1 ends it or opens the inspector, unless Node was started with --disable-sigusr1. SIGPIPE is ignored by Node itself.

/**
 * Ctrl-C and a closing terminal signal the whole process group: the supervisor alone decides what they mean. SIGUSR1 starts Node's
 * inspector, a debugger that listens on a port, unless somebody else listens to the signal.
 */
const STRAY = ['SIGINT', 'SIGHUP', 'SIGUSR1'] as const;

/** Ignores stray signals for the life of the process; the returned signal is aborted by SIGTERM. */
export function takeSignals(): AbortSignal {
  const ending = new AbortController();
  process.on('SIGTERM', () => ending.abort());
  for (const signal of STRAY) process.on(signal, () => undefined);
  return ending.signal;
}
