// Ctrl-C and its relatives. The first asks for a clean stop, the second for a faster one; neither ever kills the process, because a
// supervisor that dies at once leaves no record. Every wait of the ladder races against `first`.

export interface Interrupts {
  /** Resolves with the signal's name. */
  readonly first: Promise<string>;
  readonly second: Promise<string>;
  /** 0, 1, 2... */
  readonly count: () => number;
  dispose(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A pair of promises and the function that resolves them in turn; tests call it instead of sending signals. */
export function createInterrupts(): Interrupts & { readonly interrupt: (signal: string) => void } {
  let count = 0;
  const resolvers: ((signal: string) => void)[] = [];
  const first = new Promise<string>((resolve) => resolvers.push(resolve));
  const second = new Promise<string>((resolve) => resolvers.push(resolve));
  return {
    first,
    second,
    count: () => count,
    interrupt: (signal) => resolvers[count++]?.(signal),
    dispose: () => undefined,
  };
}

/** Listens to SIGINT, SIGTERM and SIGHUP until `dispose`. */
export function watchInterrupts(): Interrupts {
  const interrupts = createInterrupts();
  const listener = (signal: NodeJS.Signals): void => interrupts.interrupt(signal);
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    ...interrupts,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}
