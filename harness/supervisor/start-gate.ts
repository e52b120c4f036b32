// Lets only a few restarted workers boot at the same time, in the order in which they asked: when half of a run's workers die at once, the
// other half keeps most of the machine. Used by all worker posts of a crew.

export interface StartGate {
  /** Calls `begin` when there is room: at once, or later. The returned function gives the room back, or leaves the queue. */
  enter(begin: () => void): () => void;
  readonly waiting: number;
}

export function createStartGate(places: number): StartGate {
  const queue: (() => void)[] = [];
  let inside = 0;
  const admit = (): void => {
    while (inside < places) {
      const next = queue.shift();
      if (next === undefined) return;
      inside++;
      next();
    }
  };
  return {
    enter(begin) {
      let left = false;
      let entered = false;
      const ticket = (): void => {
        entered = true;
        begin();
      };
      queue.push(ticket);
      admit();
      return () => {
        if (left) return;
        left = true;
        if (entered) {
          inside--;
          admit();
          return;
        }
        const at = queue.indexOf(ticket);
        if (at >= 0) queue.splice(at, 1);
      };
    },
    get waiting() {
      return queue.length;
    },
  };
}
