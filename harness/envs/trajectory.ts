// Plays a kind over a LocalRange with seeded random actions and records what every env published, as digests. Two recordings of the same
// envs must be equal whatever the range, the path (step or stepMany) or the autoreset mode: that is what checks and tests compare.
import { createHash } from 'node:crypto';
import type { AutoresetMode } from '../contract/frame-flags.js';
import { DONE, FINAL, FIRST } from '../contract/frame-flags.js';
import { closeSlots, constructSlots } from './construct-slots.js';
import { fillAction } from './fill-actions.js';
import { createLocalRange, type LocalRange } from './local-range.js';
import type { ResolvedKind } from './registry.js';
import { PhiloxStream } from './seed-stream.js';
import { createSlotTable } from './slot-table.js';
import { publishClaimed, stepClaimed } from './step-claimed.js';

/** `first d` for an episode's first observation, `step d r f` for a transition; d = digest of the observation that belongs to it. */
export type TrajectoryEvent = string;

export interface Trajectory {
  /** Per env, from `firstEnvId` on. */
  readonly events: readonly (readonly TrajectoryEvent[])[];
  readonly failures: readonly Error[];
  readonly steps: number;
  readonly episodes: number;
}

export interface TrajectoryOptions {
  readonly envs: number;
  readonly firstEnvId?: number;
  /** Agent steps per env, about: rounds of the loop. */
  readonly rounds: number;
  readonly baseSeed?: number;
  readonly autoreset?: AutoresetMode;
  readonly slotBySlot?: boolean;
  /** Each env sits out about half of the rounds, by chance: the order of arrival differs. */
  readonly shuffled?: boolean;
  /** Writes this byte over every observation cell before each use: an element the kind leaves unwritten shows in the digest. */
  readonly smear?: number;
  readonly onFrame?: (port: LocalRange, slot: number) => void;
}

/** Actions come from streams of their own, apart from every env's. */
const ACTION_SEED = 2 ** 52 + 1;

/** Resets per env that `disabled` is commanded to make right after each end, as next-step would by itself. */
export async function recordTrajectory(kind: ResolvedKind, options: TrajectoryOptions): Promise<Trajectory> {
  const { envs, rounds } = options;
  const autoreset = options.autoreset ?? 'next-step';
  const firstEnvId = options.firstEnvId ?? 0;
  const failures: Error[] = [];
  const port = createLocalRange(kind, { slots: envs, firstEnvId, autoreset });
  const table = createSlotTable(kind, port, {
    baseSeed: options.baseSeed ?? 1,
    onFailure: (error) => failures.push(error),
    ...(options.slotBySlot === undefined ? {} : { slotBySlot: options.slotBySlot }),
  });
  const actions = new PhiloxStream(ACTION_SEED);
  const arrival = new PhiloxStream(ACTION_SEED + 1);
  const taken = new Float64Array(envs);
  const counted = new Float64Array(envs);
  const events: TrajectoryEvent[][] = Array.from({ length: envs }, () => []);
  let steps = 0;
  let episodes = 0;
  await constructSlots(table);
  for (let round = 0; round < rounds; round++) {
    if (options.shuffled === true) for (let slot = 0; slot < envs; slot++) port.held[slot] = arrival.u32() & 1;
    port.claim(envs);
    if (options.smear !== undefined) smear(port, options.smear);
    forEachStepped(port, (slot) => {
      actions.reseat(firstEnvId + slot, taken[slot] as number);
      taken[slot] = (taken[slot] as number) + 1;
      fillAction(kind.spaces.action, actions, port.range.action, slot * port.range.actionStride);
    });
    stepClaimed(table);
    publishClaimed(table, 'full');
    for (let slot = 0; slot < envs; slot++) {
      if (port.published[slot] === counted[slot]) continue;
      counted[slot] = port.published[slot] as number;
      recordFrame(port, slot, events[slot] as TrajectoryEvent[]);
      options.onFrame?.(port, slot);
      const flags = port.lastFlags[slot] as number;
      if ((flags & FIRST) === 0) steps++;
      if ((flags & DONE) === 0) continue;
      episodes++;
      if (autoreset === 'disabled') port.commandReset(slot);
    }
  }
  await closeSlots(table);
  return { events, failures, steps, episodes };
}

function smear(port: LocalRange, byte: number): void {
  const touch = (slot: number): void => {
    const views = port.views(slot, (port.range.cell[slot] as number) % port.spec.cells);
    for (const view of Object.values(views)) new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(byte);
  };
  forEachStepped(port, touch);
  for (let r = 0; r < port.resetCount; r++) touch(port.resets[r] as number);
}

function forEachStepped(port: LocalRange, visit: (slot: number) => void): void {
  for (let r = 0; r < port.runCount; r++) {
    const first = port.runs[2 * r] as number;
    const count = port.runs[2 * r + 1] as number;
    for (let slot = first; slot < first + count; slot++) visit(slot);
  }
}

function digest(obs: Readonly<Record<string, ArrayBufferView>>): string {
  const hash = createHash('sha1');
  for (const view of Object.values(obs)) hash.update(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return hash.digest('base64').slice(0, 16);
}

function recordFrame(port: LocalRange, slot: number, events: TrajectoryEvent[]): void {
  const flags = port.lastFlags[slot] as number;
  const newest = digest(port.newest(slot));
  if ((flags & FIRST) !== 0) {
    events.push(`first ${newest}`);
    return;
  }
  const ended = (flags & FINAL) !== 0;
  const own = ended ? digest(port.finals(slot)) : newest;
  events.push(`step ${own} ${port.lastReward[slot]} ${flags & DONE}`);
  if (ended) events.push(`first ${newest}`);
}

export interface Difference {
  readonly envId: number;
  /** Index into the env's events. */
  readonly event: number;
  readonly left: TrajectoryEvent | undefined;
  readonly right: TrajectoryEvent | undefined;
}

/** The first event in which two recordings of the same envs differ; events that only the longer one has do not count. */
export function firstDifference(
  left: readonly (readonly TrajectoryEvent[])[],
  right: readonly (readonly TrajectoryEvent[])[],
  firstEnvId = 0,
): Difference | undefined {
  for (let env = 0; env < Math.max(left.length, right.length); env++) {
    const a = left[env];
    const b = right[env];
    if (a === undefined || b === undefined) return { envId: firstEnvId + env, event: 0, left: a?.[0], right: b?.[0] };
    for (let event = 0; event < Math.min(a.length, b.length); event++) {
      if (a[event] !== b[event]) return { envId: firstEnvId + env, event, left: a[event], right: b[event] };
    }
  }
  return undefined;
}
