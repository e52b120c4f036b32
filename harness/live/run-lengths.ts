// A byte per env as run lengths: neighbours mostly do the same, so 7,000 envs are a few dozen numbers a second. Pure.

/** [state, count, state, count, ...]; counts sum to `states.length`. */
export function runLengths(states: Uint8Array): number[] {
  const runs: number[] = [];
  let from = 0;
  for (let at = 1; at <= states.length; at++) {
    if (at < states.length && states[at] === states[from]) continue;
    runs.push(states[from] as number, at - from);
    from = at;
  }
  return states.length === 0 ? [] : runs;
}

/** How many envs are in each of `kinds` states. */
export function countStates(states: Uint8Array, kinds: number): number[] {
  const counts = new Array<number>(kinds).fill(0);
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
