// Waiting for something to be so, with a watchdog: the only kind of waiting that rows do. Looks every few milliseconds, which is also how
// exact their clocks are.

/** How exact the recovery clocks are. */
export const LOOK_EVERY_MS = 5;

/** True as soon as `condition` holds; false when it did not within `limitMs`. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() > endMs) return false;
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
}

/** A span of time in which things are only watched. */
export async function watchFor(ms: number): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
}
