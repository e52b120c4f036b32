// Takes the sides of a claim in turns, round by round, in an order drawn anew for each round, so that what drifts (heat, caches, other load)
// falls on all sides alike. The order is pure and seeded; the taking runs one body at a time and looks how busy others kept the machine.
import type { LoadMonitor } from '../bench/cpu-load.js';
import { seededRandom } from '../chaos/seeded-random.js';
import { EnvladderError } from '../contract/errors.js';
import type { InterleaveOptions, Samples, SideBodies } from './claim.js';

/** The kernel counts busy time in ticks of 10 ms: a look at it must be long against that, and spans several bodies where they are short. */
export const LEAST_LOOK_MS = 200;

/** The sides of each round, in the order they are run. Pure. */
export function drawRounds(sides: readonly string[], rounds: number, seed: number, stream = 0): string[][] {
  const random = seededRandom(seed, stream);
  return Array.from({ length: rounds }, () => {
    const order = [...sides];
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j] as string, order[i] as string];
    }
    return order;
  });
}

export interface InterleaveSetting {
  readonly claim: string;
  readonly seed: number;
  readonly repeats: number;
  readonly signal: AbortSignal;
  readonly load: LoadMonitor;
  readonly say: (line: string) => void;
  /** Takes the cores others used during one body; not called for a last few that are too short to say. */
  readonly onLoad: (foreignCores: number) => void;
  /** Tests bring a clock of their own. */
  readonly nowMs?: () => number;
}

/** Adds what one side measured; programmer errors of a claim end here, with its name. */
function checked(claim: string, side: string, taken: Readonly<Record<string, number>>): [string, number][] {
  const values = Object.entries(taken);
  const odd = values.find(([, value]) => !Number.isFinite(value));
  if (odd === undefined) return values;
  throw new EnvladderError('contract', `claim ${claim}: side ${side} measured ${odd[0]} = ${odd[1]}; every value must be a finite number`);
}

/** Complete rounds only: a side that was interrupted has as many values as the others. */
export async function interleaveSides(setting: InterleaveSetting, bodies: SideBodies, options: InterleaveOptions = {}): Promise<Samples> {
  const { claim, signal, load, say } = setting;
  const names = Object.keys(bodies);
  const repeats = options.repeats ?? setting.repeats;
  const run = async (side: string, repeat: number) => checked(claim, side, await (bodies[side] as SideBodies[string])(repeat));
  for (let i = 0; i < (options.warmUps ?? 0) && !signal.aborted; i++) for (const side of names) await run(side, -1 - i);
  const samples: Samples = {};
  if (signal.aborted) return samples;
  const nowMs = setting.nowMs ?? (() => performance.now());
  let unlooked = 0;
  let beganMs = nowMs();
  load.start();
  /** Cores that others used during the bodies since the last look; null while those were too short. */
  const look = (): { readonly bodies: number; readonly foreign: number } | null => {
    unlooked++;
    if (nowMs() - beganMs < LEAST_LOOK_MS) return null;
    const found = { bodies: unlooked, foreign: load.foreignCores() };
    unlooked = 0;
    load.start();
    beganMs = nowMs();
    return found;
  };
  for (const [round, order] of drawRounds(names, repeats, setting.seed, options.stream).entries()) {
    const taken: { side: string; values: [string, number][] }[] = [];
    const looks: { readonly bodies: number; readonly foreign: number }[] = [];
    for (const side of order) {
      if (signal.aborted) return samples;
      const values = await run(side, round);
      // A body may end early when it is told to: what it returns then is no measurement.
      if (signal.aborted) return samples;
      taken.push({ side, values });
      const looked = look();
      if (looked !== null) looks.push(looked);
    }
    for (const { bodies, foreign } of looks) for (let i = 0; i < bodies; i++) setting.onLoad(foreign);
    for (const { side, values } of taken) {
      for (const [metric, value] of values) {
        samples[metric] ??= {};
        const ofMetric = samples[metric];
        ofMetric[side] ??= [];
        ofMetric[side].push(value);
      }
    }
    const used = looks.length === 0 ? '' : `, others used ${Math.max(...looks.map(({ foreign }) => foreign)).toFixed(2)} cores`;
    say(`${claim}: round ${round + 1} of ${repeats}${used}`);
  }
  return samples;
}
