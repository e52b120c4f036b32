// The tasks of the learning claims: easy, hard, sparse and broken ones, rewards of other scales, and two where the length of an episode is what
// is to be learned. Sizes were set by plain PPO alone: but for the long chains it learns each, save the broken one, within the updates of a run.
import { ACTIONS, FEATURES, type Task } from './task.js';

/** The right action at each place of a chain: without a pattern that one neuron could hold. */
const RIGHT = [0, 2, 1, 1, 0, 2, 0, 1, 2, 2, 1, 0] as const;
const rightAt = (place: number): number => RIGHT[place % RIGHT.length] as number;

/** The place as four numbers that differ for every place of a chain. */
function showPlace({ place }: { readonly place: number }, into: Float32Array, at: number): void {
  for (let f = 0; f < FEATURES; f++) into[at + f] = Math.sin((place + 1) * (f + 1) * 0.9);
}

/** A cue names the action that pays, anew each step. Fixed length. */
export function cue(name: string, pay: number): Task {
  return {
    name,
    what: `20 steps, ${pay} for the action that the observation names`,
    best: 20 * pay,
    limit: 20,
    begin: (state) => {
      state.place = Math.floor(ACTIONS * state.random());
    },
    move(state, action) {
      const reward = action === state.place ? pay : 0;
      state.place = Math.floor(ACTIONS * state.random());
      return { reward, ends: false };
    },
    show({ place }, into, at) {
      into.fill(0, at, at + FEATURES);
      into[at + place] = 1;
    },
  };
}

/** Forward with the right action, back with the others. */
function forward(state: { place: number }, action: number): boolean {
  const right = action === rightAt(state.place);
  state.place = Math.max(0, state.place + (right ? 1 : -1));
  return right;
}

/** A chain that pays a little for each step forward. */
export const hard = (places: number): Task => ({
  name: 'hard',
  what: `a chain of ${places} places with its own right action at each; +0.1 forward, -0.1 back, 1 at the end; 60 steps`,
  best: places * 0.1 + 1,
  limit: 60,
  begin: () => undefined,
  move(state, action) {
    const before = state.place;
    forward(state, action);
    const ends = state.place === places;
    return { reward: 0.1 * (state.place - before) + (ends ? 1 : 0), ends };
  },
  show: showPlace,
});

/** A chain that pays at its end only: uniform actions reach that of 5 places in one episode of five, that of 6 in one of ten. */
export const sparse = (places: number): Task => ({
  name: 'sparse',
  what: `a chain of ${places} places that pays 1 at its end and nothing before; 40 steps`,
  best: 1,
  limit: 40,
  begin: () => undefined,
  move(state, action) {
    forward(state, action);
    const ends = state.place === places;
    return { reward: ends ? 1 : 0, ends };
  },
  show: showPlace,
});

/** Pays noise whatever is done: what a broken simulator looks like from outside. */
export const broken: Task = {
  name: 'broken',
  what: 'rewards of deviation 1 and observations that no action has to do with; episodes of 5 to 40 steps',
  best: null,
  limit: 40,
  begin: (state) => {
    state.place = 5 + Math.floor(36 * state.random());
  },
  move(state) {
    // Uniform, of deviation 1.
    return { reward: Math.sqrt(12) * (state.random() - 0.5), ends: state.step >= state.place };
  },
  show(state, into, at) {
    for (let f = 0; f < FEATURES; f++) into[at + f] = 2 * state.random() - 1;
  },
};

/** Every step costs: the shortest episode is the best one. */
export const leave: Task = {
  name: 'leave',
  what: 'a chain of 3 places; -1 per step until its end; 60 steps',
  best: -3,
  limit: 60,
  begin: () => undefined,
  move(state, action) {
    forward(state, action);
    return { reward: -1, ends: state.place === 3 };
  },
  show: showPlace,
};

/** Every step pays: the longest episode is the best one, as in cartpole. */
export const stay: Task = {
  name: 'stay',
  what: '1 per step; any action but the one of the cue ends the episode; 40 steps',
  best: 40,
  limit: 40,
  begin: cue('', 1).begin,
  move(state, action) {
    const ends = action !== state.place;
    state.place = Math.floor(ACTIONS * state.random());
    return { reward: 1, ends };
  },
  show: cue('', 1).show,
};

/** What is learned together, by one policy. */
export const MIXES = {
  stability: [cue('easy', 1), hard(8), sparse(5), broken],
  /** The same with longer chains, which plain PPO does not learn with every seed. */
  'stability-long': [cue('easy', 1), hard(12), sparse(6), broken],
  scales: [cue('large', 10), cue('small', 0.1), leave, stay],
} as const satisfies Readonly<Record<string, readonly Task[]>>;

export type MixName = keyof typeof MIXES;

/** A mix in words, for the reader of a claim. */
export function describeMix(mix: MixName): string {
  return MIXES[mix].map(({ name, what }) => `${name}: ${what}`).join('. ');
}
