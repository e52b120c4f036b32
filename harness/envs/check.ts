// `envladder env check KIND`: does a kind keep the contract, and how fast is it? Every check plays the kind over ranges in this process
// and yields one line of data; format-check.ts makes the text. A kind that hangs hangs the check: the CLI runs it under a watchdog.
import { AUTORESET_MODES } from '../contract/frame-flags.js';
import { boxBytes } from '../contract/spaces.js';
import { runBareLoop } from './bare-loop.js';
import { fillAction } from './fill-actions.js';
import { createLocalRange } from './local-range.js';
import type { ResolvedKind } from './registry.js';
import { PhiloxStream } from './seed-stream.js';
import { type Difference, firstDifference, recordTrajectory, type Trajectory, type TrajectoryOptions } from './trajectory.js';

export interface CheckLine {
  readonly name: string;
  readonly status: 'pass' | 'fail' | 'warn' | 'skip';
  /** What was found, or what to do about it. */
  readonly detail: string;
}

export interface CheckReport {
  readonly kind: string;
  readonly version: string;
  readonly origin: string;
  readonly ok: boolean;
  readonly lines: readonly CheckLine[];
  /** Agent steps a second of the bare loop on this core; undefined when checks failed before. */
  readonly stepsPerSecond: number | undefined;
}

export interface CheckOptions {
  readonly baseSeed?: number;
  /** Steps per env of each recording. Default: enough to end an episode, bounded by the size of an observation. */
  readonly steps?: number;
  readonly speedSeconds?: number;
}

const ENVS = 4;
/** Bytes of observations that one recording may hash: keeps `field` within a second. */
const BYTES_PER_RECORDING = 100e6;

/** Runs all checks of a resolved kind. Never throws for what the kind does; failures are lines. */
export async function checkKind(kind: ResolvedKind, options: CheckOptions = {}): Promise<CheckReport> {
  const baseSeed = options.baseSeed ?? 1;
  const bytes = Object.values(kind.spaces.observation).reduce((sum, box) => sum + boxBytes(box), 0);
  const affordable = Math.max(16, Math.floor(BYTES_PER_RECORDING / (bytes * ENVS)));
  // One more than the time limit ends an episode; one more starts the next.
  const rounds = options.steps ?? Math.min(affordable, (kind.timeLimit ?? 300) + 10);
  const lines: CheckLine[] = [];
  const add = (name: string, status: CheckLine['status'], detail: string): void => {
    lines.push({ name, status, detail });
  };
  const record = (more: Partial<TrajectoryOptions> = {}): Promise<Trajectory> =>
    recordTrajectory(kind, { envs: ENVS, rounds, baseSeed, ...more });
  const report = (stepsPerSecond?: number): CheckReport => ({
    kind: kind.kind.name,
    version: kind.kind.version,
    origin: kind.origin,
    ok: lines.every((line) => line.status !== 'fail'),
    lines,
    stepsPerSecond,
  });

  add('spaces', 'pass', describeSpaces(kind));
  let base: Trajectory;
  try {
    base = await record({ smear: 0xa5 });
  } catch (error) {
    add('contract', 'fail', text(error));
    return report();
  }
  if (base.failures.length > 0) {
    add('contract', 'fail', text(base.failures[0]));
    return report();
  }
  add('contract', 'pass', `${base.steps} steps, ${base.episodes} episodes of ${ENVS} envs; results, dtypes, bounds, finite values`);

  const compare = (name: string, good: string, bad: string, difference: Difference | undefined): void => {
    if (difference === undefined) add(name, 'pass', good);
    else add(name, 'fail', `env ${difference.envId} differs at event ${difference.event}: ${bad}`);
  };
  const smeared = await record({ smear: 0x3c });
  compare(
    'writes every element',
    'reset and step write all of each observation, every time',
    'an element was left unwritten (cells alternate: write the whole observation), or the seed stream is not the only source of chance',
    firstDifference(base.events, smeared.events),
  );
  compare(
    'same seed, same trajectory',
    'two runs are equal, frame by frame',
    'use slot.seed draws only, no Math.random, clock or state shared between envs',
    firstDifference(smeared.events, (await record({ smear: 0x3c })).events),
  );
  const firsts = new Set(base.events.map((events) => events[0]));
  if (firsts.size > 1) add('env ids differ', 'pass', `${firsts.size} different starts in ${ENVS} envs`);
  else add('env ids differ', 'warn', `all ${ENVS} envs start alike; fine if the kind has only one start`);

  const split = [...(await record({ envs: 1, firstEnvId: 0 })).events, ...(await record({ envs: ENVS - 1, firstEnvId: 1 })).events];
  compare(
    'any split of ids',
    'equal in one range and in two',
    'it depends on which range it runs in: key all state by slot.index, all chance by the seed stream',
    firstDifference(base.events, split),
  );
  const turns = await record({ shuffled: true, rounds: rounds * 2 });
  compare(
    'any order of arrival',
    'equal when envs wait by chance',
    'envs of one range influence each other',
    firstDifference(base.events, turns.events),
  );
  const table = await record({ slotBySlot: true });
  if (hasStepMany(kind)) {
    compare('stepMany equals step', 'bit for bit', 'stepMany and step disagree', firstDifference(base.events, table.events));
  } else add('stepMany equals step', 'skip', 'the kind has no stepMany; with one it would step faster');

  for (const mode of AUTORESET_MODES) {
    const name = `episode edges, ${mode}`;
    const edges = await record({ autoreset: mode });
    if (edges.failures.length > 0) add(name, 'fail', text(edges.failures[0]));
    else if (edges.episodes === 0) add(name, 'skip', noEnd(kind, rounds));
    else {
      const what = `${edges.episodes} ends: last observation, next first one, reward and flags`;
      compare(name, what, 'the mode changes the trajectory', firstDifference(base.events, edges.events));
    }
  }
  add('close', 'pass', 'every slot was closed without an error');
  const speed = await measureSpeed(kind, baseSeed, options.speedSeconds ?? 0.3);
  add('speed', 'pass', `${speed.toLocaleString('en-US', { maximumFractionDigits: 0 })} steps/s on one core, resets included`);
  return report(speed);
}

function noEnd({ timeLimit }: ResolvedKind, rounds: number): string {
  const found = `no episode ended within ${rounds} steps of random actions`;
  if (timeLimit === undefined) return `${found} and the kind has no time limit: nothing to check if its episodes never end`;
  return `${found}, below the time limit of ${timeLimit}: a check with a config of shorter episodes or smaller observations sees ends`;
}

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function describeSpaces(kind: ResolvedKind): string {
  const keys = Object.entries(kind.spaces.observation).map(([key, box]) => `${key} ${box.dtype}[${box.shape.join(',')}]`);
  const { action } = kind.spaces;
  const choice =
    action.type === 'discrete'
      ? `discrete(${action.n})`
      : action.type === 'box'
        ? `box[${action.shape.join(',')}]`
        : `multi-discrete(${action.nvec.join(',')})`;
  return `${keys.join(', ')}; action ${choice}; time limit ${kind.timeLimit ?? 'none'}`;
}

function hasStepMany(kind: ResolvedKind): boolean {
  // Only `create` can tell; a range of one slot costs nothing.
  const env = kind.kind.create({
    config: kind.config,
    capacity: 1,
    firstEnvId: 0,
    range: createLocalRange(kind, { slots: 1 }).range,
    epoch: 0,
  });
  return env.stepMany !== undefined;
}

async function measureSpeed(kind: ResolvedKind, baseSeed: number, seconds: number): Promise<number> {
  const stream = new PhiloxStream(baseSeed);
  const act = (actions: Int32Array | Float32Array, round: number): void => {
    // A new action for one env per round: enough to vary, too little to measure.
    fillAction(kind.spaces.action, stream, actions, (round % envs) * (actions.length / envs));
  };
  const envs = 64;
  let rounds = 1;
  for (;;) {
    const run = await runBareLoop(kind, { envs, rounds, baseSeed, act });
    if (run.seconds >= seconds || rounds >= 2 ** 30) return run.stepsPerSecond;
    rounds = Math.ceil(rounds * Math.min(20, Math.max(2, (1.2 * seconds) / Math.max(run.seconds, 1e-6))));
  }
}
