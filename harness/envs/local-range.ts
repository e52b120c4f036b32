// A range in plain process memory, D = 2 cells, whose frames count as answered the moment they are published: the in-process twin of a
// block for env check, tests and benches. Actions stay in `range.action` until the caller writes others.
import type { CheckLevel } from '../contract/check-level.js';
import { DTYPE_BYTES, type TypedArray, viewOf } from '../contract/dtype.js';
import { ABANDONED, type AutoresetMode, DONE, FINAL, QUARANTINED } from '../contract/frame-flags.js';
import { actionElements, elementCount } from '../contract/spaces.js';
import { findBadElement } from './check-result.js';
import type { RangePort, RefusedFrame } from './range-port.js';
import type { ResolvedKind } from './registry.js';
import type { KeyRule } from './slot-table.js';

const CELLS = 2;

export interface LocalRange extends RangePort {
  /** Next claim resets this slot (the reader's command). */
  commandReset(slot: number): void;
  /** The kept last observation of an ended episode (same-step), of this slot. */
  finals(slot: number): Readonly<Record<string, TypedArray>>;
  /** Flags of the newest published frame, kept over `claim`, which zeroes `range.flags`. */
  readonly lastFlags: Uint8Array;
  readonly lastReward: Float64Array;
  /** 1 = no answer has arrived: claim passes this slot over. */
  readonly held: Uint8Array;
  /** Frames published per slot. */
  readonly published: Float64Array;
  /** Newest published observation of a slot. */
  newest(slot: number): Readonly<Record<string, TypedArray>>;
}

export interface LocalRangeOptions {
  readonly slots: number;
  readonly firstEnvId?: number;
  readonly autoreset?: AutoresetMode;
}

/** Bits of a slot's local state. */
const ACTIVE = 1;
const RETIRED = 2;
const COMMANDED = 4;
const CLAIMED = 8;
const PARKED = 16;
/** Built again: its next frame is the reset after a lost trajectory. */
const REBUILT = 32;

/** Creates the arrays of `slots` environments of a resolved kind. */
export function createLocalRange(kind: ResolvedKind, options: LocalRangeOptions): LocalRange {
  const { slots } = options;
  const rules: KeyRule[] = Object.entries(kind.spaces.observation).map(([key, box]) => ({
    key,
    dtype: box.dtype,
    elements: elementCount(box.shape),
    low: box.low,
    high: box.high,
  }));
  const plane = (rule: KeyRule, cells: number): TypedArray => {
    const length = slots * cells * rule.elements;
    return viewOf(rule.dtype, new ArrayBuffer(length * DTYPE_BYTES[rule.dtype]), 0, length);
  };
  const obs = Object.fromEntries(rules.map((rule) => [rule.key, plane(rule, CELLS)]));
  const kept: Record<string, TypedArray> = {};
  const action = actionElements(kind.spaces.action);
  const range = {
    obs,
    elements: Object.fromEntries(rules.map((rule) => [rule.key, rule.elements])),
    cell: new Uint32Array(slots),
    action: action.dtype === 'i32' ? new Int32Array(slots * action.length) : new Float32Array(slots * action.length),
    actionStride: action.length,
    reward: new Float64Array(slots),
    flags: new Uint8Array(slots),
  };
  const { cell, reward, flags } = range;
  const state = new Uint8Array(slots);
  const published = new Float64Array(slots);
  const lastFlags = new Uint8Array(slots);
  const lastReward = new Float64Array(slots);
  const held = new Uint8Array(slots);
  const runs = new Int32Array(slots * 2);
  const resets = new Int32Array(slots);
  const cached: (Record<string, TypedArray> | undefined)[] = new Array(slots * CELLS);
  const breaches: RefusedFrame[] = [];
  const autoreset = options.autoreset ?? 'next-step';

  const cut = (planes: Record<string, TypedArray>, at: number): Record<string, TypedArray> =>
    Object.fromEntries(
      rules.map((rule) => [rule.key, (planes[rule.key] as TypedArray).subarray(at * rule.elements, (at + 1) * rule.elements)]),
    );
  const views = (slot: number, cellOf: number): Record<string, TypedArray> => {
    const at = slot * CELLS + (cellOf % CELLS);
    const known = cached[at];
    if (known !== undefined) return known;
    const made = cut(obs, at);
    cached[at] = made;
    return made;
  };
  const finalPlanes = (): Record<string, TypedArray> => {
    for (const rule of rules) kept[rule.key] ??= plane(rule, 1);
    return kept;
  };
  const refuse = (slot: number, contents: boolean): RefusedFrame | undefined => {
    const value = reward[slot] as number;
    if (!Number.isFinite(value)) return { slot, key: 'reward', element: 0, value, rule: 'finite' };
    if (!contents) return undefined;
    const ended = ((flags[slot] as number) & FINAL) !== 0;
    for (const shown of ended ? [views(slot, cell[slot] as number), cut(finalPlanes(), slot)] : [views(slot, cell[slot] as number)]) {
      for (const rule of rules) {
        const bad = findBadElement(rule, shown[rule.key] as TypedArray);
        if (bad !== undefined) return { slot, key: rule.key, ...bad };
      }
    }
    return undefined;
  };
  let runCount = 0;
  let resetCount = 0;
  /** Slots [claimFrom, claimTo) were looked at by the last claim; round-robin when `limit` is below the number of slots. */
  let claimFrom = 0;
  let claimTo = 0;

  const claim = (limit: number): number => {
    runCount = 0;
    resetCount = 0;
    claimFrom = claimTo >= slots ? 0 : claimTo;
    claimTo = Math.min(slots, claimFrom + limit);
    let open = -1;
    let steps = 0;
    for (let i = claimFrom; i < claimTo; i++) {
      const bits = state[i] as number;
      const frame = published[i] as number;
      let stepped = false;
      if ((bits & (ACTIVE | RETIRED | PARKED)) === ACTIVE && held[i] === 0) {
        state[i] = (bits & ~COMMANDED) | CLAIMED;
        // Cells alternate as in shared memory: a kind that writes only what changed would leave stale parts behind.
        cell[i] = i * CELLS + (frame % CELLS);
        const ended = autoreset === 'next-step' && ((lastFlags[i] as number) & DONE) !== 0;
        if (frame === 0 || ended || (bits & (COMMANDED | REBUILT)) !== 0) resets[resetCount++] = i;
        else stepped = true;
        reward[i] = 0;
        flags[i] = 0;
      }
      if (stepped) {
        if (open < 0) open = i;
        steps++;
      } else if (open >= 0) {
        runs[2 * runCount] = open;
        runs[2 * runCount++ + 1] = i - open;
        open = -1;
      }
    }
    if (open >= 0) {
      runs[2 * runCount] = open;
      runs[2 * runCount++ + 1] = claimTo - open;
    }
    return steps + resetCount;
  };

  const publish = (check: CheckLevel): number => {
    let count = 0;
    breaches.length = 0;
    for (let i = claimFrom; i < claimTo; i++) {
      const bits = state[i] as number;
      if ((bits & CLAIMED) === 0) continue;
      const contents = check === 'full' || (check === 'sampled' && ((published[i] as number) + i) % 64 === 0);
      const refused = refuse(i, contents);
      if (refused !== undefined) {
        breaches.push(refused);
        continue;
      }
      state[i] = bits & ~(CLAIMED | REBUILT);
      lastFlags[i] = flags[i] as number;
      lastReward[i] = reward[i] as number;
      published[i] = (published[i] as number) + 1;
      count++;
    }
    return count;
  };

  return {
    spec: { kind: kind.kind.name, firstEnvId: options.firstEnvId ?? 0, slots, cells: CELLS, autoreset },
    range,
    runs,
    resets,
    get runCount() {
      return runCount;
    },
    get resetCount() {
      return resetCount;
    },
    breaches,
    lastFlags,
    lastReward,
    held,
    published,
    views,
    activate(slot) {
      state[slot] = (state[slot] as number) | ACTIVE;
    },
    commandReset(slot) {
      state[slot] = (state[slot] as number) | COMMANDED;
    },
    claim,
    wasAbandoned: (slot) => ((state[slot] as number) & REBUILT) !== 0,
    keepFinal(slot) {
      const planes = finalPlanes();
      const current = views(slot, cell[slot] as number);
      for (const rule of rules) (planes[rule.key] as TypedArray).set(current[rule.key] as TypedArray, slot * rule.elements);
    },
    publish,
    quarantine(slot) {
      state[slot] = ((state[slot] as number) & ~(CLAIMED | PARKED)) | RETIRED;
      lastFlags[slot] = ABANDONED | QUARANTINED;
      lastReward[slot] = 0;
      published[slot] = (published[slot] as number) + 1;
    },
    park(slot) {
      state[slot] = ((state[slot] as number) & ~CLAIMED) | PARKED;
    },
    unpark(slot) {
      state[slot] = ((state[slot] as number) & ~PARKED) | REBUILT;
    },
    release(slot) {
      state[slot] = ((state[slot] as number) & ~RETIRED) | ACTIVE | REBUILT;
    },
    finals: (slot) => cut(finalPlanes(), slot),
    newest: (slot) => views(slot, ((published[slot] as number) - 1) % CELLS),
  };
}
