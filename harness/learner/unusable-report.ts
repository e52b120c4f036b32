// Tells of observations that are no numbers: the first at once, then sums, at most one warning a minute, however many envs return them.

const PAUSE_MS = 60_000;

/** The returned function counts one such frame of an env. */
export function createUnusableReport(nowMs: () => number, warn: (message: string) => void): (envId: number) => void {
  let frames = 0;
  let toldMs = Number.NEGATIVE_INFINITY;
  return (envId) => {
    frames++;
    const now = nowMs();
    if (now - toldMs < PAUSE_MS) return;
    toldMs = now;
    warn(
      `env ${envId} returned an observation that is not finite: the frame and its open transitions are dropped as abandoned (${frames} such frames so far). With check: full its worker finds the step and builds the env anew`,
    );
  };
}
